// Phases of a thread, and pauses. Time and calls count for the innermost phase.
#include <algorithm>
#include <utility>

#include "recorder/location.h"

namespace tare::recorder {
namespace {

// Creates the entry of a phase when it first begins. 0, "other", if there are too many.
std::uint32_t number_of(format::LocationHeader& shared, std::uint32_t type) noexcept {
  format::LocationSummary& summary = shared.summary;
  for (std::uint32_t number = 1; number < summary.phases; ++number)
    if (shared.phases[number].type == type) return number;
  if (summary.phases == format::phase_capacity) {
    summary.full |= format::full_phases;
    return 0;
  }
  const std::uint32_t number = summary.phases;
  shared.phases[number].type = type;
  shared.phases[number].flags = format::bytes_as_in_rows;
  std::atomic_ref(summary.phases).store(number + 1, std::memory_order_release);
  return number;
}

}  // namespace

void Location::switch_to_phase(std::uint32_t number) noexcept {
  format::LocationSummary& summary = shared->summary;
  const std::uint64_t time = now();
  phase->ticks += time - summary.phase_since;
  summary.phase_since = time;
  summary.phase = number;
  phase = &shared->phases[number];
  if (mode != Mode::paused) pause(false);
}

// The limit is set so that no record fits. So pauses cost nothing on paths without a pause.
void Location::pause(bool paused) noexcept {
  const bool was_paused = mode == Mode::paused;
  if (paused && !was_paused) limit_behind_pause = std::exchange(limit, 0);
  if (!paused && was_paused) limit = limit_behind_pause;
  const bool is_watched = offload_due.load(std::memory_order_relaxed) != UINT64_MAX;
  const Mode outside = is_watched ? Mode::watched : Mode::usual;
  const Mode unpaused = shared->summary.phase == format::outside_phases ? outside : Mode::in_phase;
  mode = paused ? Mode::paused : unpaused;
}

void Location::begin_phase(std::uint32_t type) noexcept {
  if (phase_depth == nested_phases) {
    shared->summary.full |= format::full_phases;
    return;
  }
  outer_phases[phase_depth++] = static_cast<std::uint8_t>(shared->summary.phase);
  switch_to_phase(number_of(*shared, type));
  ++phase->entries;
}

void Location::end_phase(std::uint32_t type) noexcept {
  if (phase_depth == 0) return;
  const std::uint32_t number = number_of(*shared, type);
  if (shared->summary.phase == number) return switch_to_phase(outer_phases[--phase_depth]);
  for (unsigned i = phase_depth; i-- > 1;) {  // entry 0 is no phase
    if (outer_phases[i] != number) continue;
    std::copy(outer_phases + i + 1, outer_phases + phase_depth, outer_phases + i);
    --phase_depth;
    return;
  }
}

bool Location::is_in_phase(std::uint32_t type) const noexcept {
  bool is_in = phase->type == type;
  for (unsigned i = 1; i < phase_depth && !is_in; ++i) is_in = shared->phases[outer_phases[i]].type == type;
  return is_in;
}

void Location::leave_all_phases() noexcept {
  phase_depth = 0;
  switch_to_phase(format::outside_phases);
}

}  // namespace tare::recorder

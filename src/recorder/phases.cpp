#include "recorder/phases.h"

#include <algorithm>
#include <atomic>

#include "recorder/clock.h"

namespace tare::recorder {

void Phases::begin() noexcept {
  shared->phases[0].type = format::other_phase;
  shared->phases[0].flags = format::bytes_as_in_rows;
  shared->phases[format::outside_phases].flags = format::bytes_as_in_rows;
  current = &shared->phases[format::outside_phases];
  format::LocationSummary& summary = shared->summary;
  summary.phase_since = now();
  summary.phase = format::outside_phases;
  summary.phases = format::outside_phases + 1;
}

// Creates the entry of a phase when it first begins. 0, "other", if there are too many.
std::uint32_t Phases::number_of(std::uint32_t type) noexcept {
  format::LocationSummary& summary = shared->summary;
  for (std::uint32_t number = 1; number < summary.phases; ++number)
    if (shared->phases[number].type == type) return number;
  if (summary.phases == format::phase_capacity) {
    summary.full |= format::full_phases;
    return 0;
  }
  const std::uint32_t number = summary.phases;
  shared->phases[number].type = type;
  shared->phases[number].flags = format::bytes_as_in_rows;
  std::atomic_ref(summary.phases).store(number + 1, std::memory_order_release);
  return number;
}

void Phases::switch_to(std::uint32_t number) noexcept {
  format::LocationSummary& summary = shared->summary;
  const std::uint64_t time = now();
  current->ticks += time - summary.phase_since;
  summary.phase_since = time;
  summary.phase = number;
  current = &shared->phases[number];
}

void Phases::enter(std::uint32_t type) noexcept {
  if (depth == max_nested) {
    shared->summary.full |= format::full_phases;
    return;
  }
  outer[depth++] = static_cast<std::uint8_t>(shared->summary.phase);
  switch_to(number_of(type));
  ++current->entries;
}

void Phases::leave(std::uint32_t type) noexcept {
  if (depth == 0) return;
  const std::uint32_t number = number_of(type);
  if (shared->summary.phase == number) return switch_to(outer[--depth]);
  for (unsigned i = depth; i-- > 1;) {  // entry 0 is no phase
    if (outer[i] != number) continue;
    std::copy(outer + i + 1, outer + depth, outer + i);
    --depth;
    return;
  }
}

bool Phases::is_in(std::uint32_t type) const noexcept {
  bool is_in = current->type == type;
  for (unsigned i = 1; i < depth && !is_in; ++i) is_in = shared->phases[outer[i]].type == type;
  return is_in;
}

void Phases::leave_all() noexcept {
  depth = 0;
  switch_to(format::outside_phases);
}

}  // namespace tare::recorder

#include "recorder/location.h"

#include <atomic>
#include <utility>

#include "recorder/monitored.h"
#include "recorder/node_words.h"
#include "recorder/segment.h"

namespace tare::recorder {

static_assert(offsetof(Location, weighing) + offsetof(Weighing, left) >= 64 &&
                  offsetof(Location, events) + offsetof(EventBuffer, limit_when_resumed) <= 128,
              "what every call reads lies in one cache line");

void Location::begin(format::LocationHeader& block, std::uint32_t rows, char* memory,
                     const format::RingShape& ring) noexcept {
  events.shared = phases.shared = &block;
  this->block = block.block;
  profile.rows = format::rows_of(&block);
  block.row_capacity = rows;
  profile.begin();
  peers().begin();
  phases.begin();
  block.current.source = format::no_peer;
  block.current.source_tag = format::no_tag;
  if (memory == nullptr) return;
  events.memory = memory;
  events.ring = ring;
}

// In a flight recorder, the newest events stay in the buffer.
void Location::end_thread() noexcept {
  resume();
  end_gap(now());
  name.note(shared().summary.number);
  if (events.ring.policy != format::Policy::overwrite) drain();
  phases.leave_all();
  update_mode();
}

void Location::update_mode() noexcept {
  const bool is_watched = offload_due.load(std::memory_order_relaxed) != UINT64_MAX;
  if (events.is_suspended(Suspension::pause))
    mode = Mode::paused;
  else if (!phases.is_outside())
    mode = Mode::in_phase;
  else
    mode = is_watched ? Mode::watched : Mode::usual;
}

void Location::pause() noexcept {
  if (!events.is_suspended(Suspension::pause))
    if (auto* of = segment()) std::atomic_ref(of->process.pauses).fetch_add(1, std::memory_order_relaxed);
  events.suspend(Suspension::pause);
  update_mode();
}

void Location::resume() noexcept {
  events.resume(Suspension::pause);
  begin_scheduling();
  update_mode();
}

void Location::enter_phase(std::uint32_t type) noexcept {
  phases.enter(type);
  update_mode();
}

void Location::leave_phase(std::uint32_t type) noexcept {
  phases.leave(type);
  update_mode();
}

void Location::begin_gap(std::uint64_t time) noexcept {
  if (gap_begin != 0 || !events.has_trace()) return;
  events.suspend(Suspension::gap);
  gap_begin = time;
  gap_calls = calls_made();
}

void Location::end_gap(std::uint64_t time) noexcept {
  if (gap_begin == 0 || mode == Mode::paused) return;
  events.resume(Suspension::gap);
  const format::LossRecord record{
      {format::loss, sizeof record / 8}, 0, std::exchange(gap_begin, 0), time, calls_made() - gap_calls};
  // Without room, the trace is already in a gap of another kind.
  if (has_made_room(sizeof record)) events.append(record);
}

}  // namespace tare::recorder

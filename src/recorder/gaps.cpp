// Gaps in the trace of a thread that tare makes by itself: spells without events (spells.h).
#include <utility>

#include "recorder/location.h"

namespace tare::recorder {

// Sets the limit so that no record fits, as a pause does.
void Location::begin_gap(std::uint64_t time) noexcept {
  std::uint64_t& open = mode == Mode::paused ? limit_behind_pause : limit;
  if (gap_begin != 0 || open == 0) return;
  limit_behind_gap = std::exchange(open, 0);
  gap_begin = time;
  gap_calls = calls_made();
}

void Location::end_gap(std::uint64_t time) noexcept {
  if (gap_begin == 0 || mode == Mode::paused) return;
  limit = limit_behind_gap;
  const format::LossRecord record{
      {format::loss, sizeof record / 8}, 0, std::exchange(gap_begin, 0), time, calls_made() - gap_calls};
  if (!has_made_room(sizeof record)) return;  // no room: the trace is already in a gap of another kind
  std::memcpy(base + head, &record, sizeof record);
  publish(sizeof record);
}

}  // namespace tare::recorder

// Converts ticks of a process of this node to times.
#pragma once

#include <cstdint>

#include "format/process_record.h"
#include "recorder/clock.h"

namespace tare::tared {

class TickClock {
 public:
  explicit TickClock(const format::ProcessRecord& process)
      : start_(process.clock_start), realtime_start_ns_(static_cast<std::int64_t>(process.realtime_start_ns)) {}

  // The rate is measured since the process began, so it becomes more exact.
  void update() {
    const format::ClockPair now = recorder::read_clock_pair();
    if (now.ticks > start_.ticks && now.monotonic_ns > start_.monotonic_ns)
      ns_per_tick_ =
          static_cast<double>(now.monotonic_ns - start_.monotonic_ns) / static_cast<double>(now.ticks - start_.ticks);
  }
  double duration_ns(std::uint64_t ticks) const { return static_cast<double>(ticks) * ns_per_tick_; }
  // Since the epoch. A time too far from now is replaced by now.
  std::int64_t unix_ns(std::uint64_t ticks) const {
    const double since = static_cast<double>(static_cast<std::int64_t>(ticks - start_.ticks)) * ns_per_tick_;
    constexpr double longest = 1e18;
    if (!(since > -longest && since < longest)) return static_cast<std::int64_t>(recorder::read_ns(CLOCK_REALTIME));
    return realtime_start_ns_ + static_cast<std::int64_t>(since);
  }

 private:
  format::ClockPair start_;
  std::int64_t realtime_start_ns_;
  double ns_per_tick_ = 1;
};

}  // namespace tare::tared

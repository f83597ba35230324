// Ticks of one process's clock to nanoseconds since 1970.
#pragma once

#include <cstdint>
#include <vector>

#include "format/segment.h"

namespace tare::reader {

// Reads this machine's clock of that kind beside the kernel's; ticks 0 if it has none.
format::ClockPair read_clock(format::ClockKind kind);

// Nearest integer, of damaged values the largest there is.
std::int64_t rounded_ns(double ns);

// Piecewise linear between clock pairs, and with the rate over all of them outside.
class ClockMap {
 public:
  ClockMap() = default;
  // `pairs` in any order, with doubles and damaged ones; `default_rate` (ns a tick) serves where they hold
  // fewer than two usable ones. The clock read realtime_start_ns when it read `start`.
  ClockMap(const format::ClockPair& start, std::uint64_t realtime_start_ns, std::vector<format::ClockPair> pairs,
           double default_rate);

  std::int64_t unix_ns(std::uint64_t ticks) const;
  // Of a difference of ticks.
  std::int64_t duration_ns(std::uint64_t ticks) const;
  // False if the pairs say nothing and the default rate is used.
  bool is_measured() const { return measured_; }
  double rate() const { return rate_; }
  // Ticks covered by the pairs.
  std::uint64_t span() const { return pairs_.empty() ? 0 : pairs_.back().ticks - pairs_.front().ticks; }

 private:
  std::vector<format::ClockPair> pairs_;
  std::int64_t realtime_offset_ = 0;  // unix time - monotonic time
  double rate_ = 1;
  bool measured_ = false;
};

}  // namespace tare::reader

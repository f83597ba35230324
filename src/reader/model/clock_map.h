// Converts ticks of one process's clock to nanoseconds since 1970.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "format/clock_pair.h"

namespace tare::reader {

// Reads this machine's clock of that kind and the kernel's. Ticks are 0 if the machine has no such clock.
format::ClockPair read_clock(format::ClockKind kind);

// The nearest integer; saturates for damaged values. Written out because it is called for millions of times, and
// llround is a function call.
inline std::int64_t rounded_ns(double ns) {
  constexpr double limit = 9.2e18;
  const double bounded = ns < -limit ? -limit : ns > limit ? limit : ns;
  return static_cast<std::int64_t>(bounded < 0 ? bounded - 0.5 : bounded + 0.5);
}

// Piecewise linear between clock pairs. Outside, the rate over all pairs is used.
class ClockMap {
 public:
  ClockMap() = default;
  // `pairs` may be in any order, with duplicates and damaged ones. `default_rate` (ns for each tick) is used if fewer
  // than two are usable. The clock read realtime_start_ns when it read `start`.
  ClockMap(const format::ClockPair& start, std::uint64_t realtime_start_ns, std::vector<format::ClockPair> pairs,
           double default_rate);

  std::int64_t unix_ns(std::uint64_t ticks) const;
  // The same for `count` times. Times in ascending order take a fraction of the time.
  void unix_ns(const std::uint64_t* ticks, std::size_t count, std::int64_t* ns) const;
  // Of a difference of ticks.
  std::int64_t duration_ns(std::uint64_t ticks) const { return rounded_ns(static_cast<double>(ticks) * rate_); }
  // False if the pairs are not usable and the default rate is used.
  bool is_measured() const { return measured_; }
  double rate() const { return rate_; }
  // The ticks that the pairs cover.
  std::uint64_t span() const { return pairs_.empty() ? 0 : pairs_.back().ticks - pairs_.front().ticks; }

 private:
  // Times in [begin, end) lie on one line.
  struct LinearPiece {
    std::uint64_t begin, end;
    format::ClockPair from;
    std::uint64_t origin;  // unix time at `from`
    double rate;
    std::int64_t unix_ns(std::uint64_t ticks) const;
  };
  LinearPiece piece_at(std::uint64_t ticks) const;

  std::vector<format::ClockPair> pairs_;
  std::int64_t realtime_offset_ = 0;  // unix time - monotonic time
  double rate_ = 1;
  bool measured_ = false;
};

}  // namespace tare::reader

// Converts ticks of the clock of one process to Unix time: nanoseconds since 1970.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "format/clock_pair.h"

namespace tare::reader {

// Reads the clock of that kind and CLOCK_MONOTONIC_RAW at the same time, on this machine. Ticks are 0 if the machine
// has no such clock.
format::ClockPair read_clock(format::ClockKind kind);

// The nearest integer; saturates for damaged values. It does not use llround, because it is called for millions of
// times and llround is a function call.
inline std::int64_t rounded_ns(double ns) {
  constexpr double limit = 9.2e18;
  const double bounded = ns < -limit ? -limit : ns > limit ? limit : ns;
  return static_cast<std::int64_t>(bounded < 0 ? bounded - 0.5 : bounded + 0.5);
}

// Interpolates linearly between neighbouring clock pairs. Before the first and after the last pair, it uses the mean
// rate over all pairs. Immutable, so threads may share it.
class ClockMap {
 public:
  ClockMap() = default;
  // `start` was read when CLOCK_REALTIME was realtime_start_ns. `pairs` may be in any order, and contain duplicates and
  // damaged pairs. `default_rate` (ns for each tick) is used if none of `pairs` is usable.
  ClockMap(const format::ClockPair& start, std::uint64_t realtime_start_ns, std::vector<format::ClockPair> pairs,
           double default_rate);

  std::int64_t unix_ns(std::uint64_t ticks) const;
  // Converts `count` times. This is fastest where neighbouring times lie between the same two clock pairs.
  void unix_ns(const std::uint64_t* ticks, std::size_t count, std::int64_t* ns) const;
  // Converts a difference of ticks, with the mean rate over all pairs.
  std::int64_t duration_ns(std::uint64_t ticks) const { return rounded_ns(static_cast<double>(ticks) * rate_); }
  // False if no pair was usable, so that the default rate is used.
  bool is_measured() const { return measured_; }
  double rate() const { return rate_; }  // ns for each tick, over all pairs
  // Ticks from the first usable pair to the last.
  std::uint64_t span() const { return pairs_.empty() ? 0 : pairs_.back().ticks - pairs_.front().ticks; }

 private:
  // A line between two clock pairs: valid for ticks in [begin, end).
  struct LinearPiece {
    std::uint64_t begin, end;
    format::ClockPair from;
    std::uint64_t origin;  // Unix time at `from`, in ns
    double rate;
    std::int64_t unix_ns(std::uint64_t ticks) const;
  };
  LinearPiece piece_at(std::uint64_t ticks) const;

  std::vector<format::ClockPair> pairs_;
  std::int64_t realtime_offset_ = 0;  // Unix time - monotonic time, in ns
  double rate_ = 1;
  bool measured_ = false;
};

}  // namespace tare::reader

// Converts ticks of this node to nanoseconds and, between nodes, to the first node's clock.
#pragma once

#include <algorithm>
#include <cstdint>

#include "recorder/clock.h"

namespace tare::mpi::sampling {

class NodeClock {
 public:
  void set_rate(double ticks_per_ns) noexcept {
    ticks_per_ns_ = ticks_per_ns;
    ns_per_tick_ = 1 / ticks_per_ns;
  }
  double ticks_per_ns() const noexcept { return ticks_per_ns_; }
  std::int64_t ns_of(std::uint64_t ticks) const noexcept {  // of a span, which may be negative
    constexpr double most = 9e18;                           // a sender's value may be anything
    return static_cast<std::int64_t>(
        std::clamp(static_cast<double>(static_cast<std::int64_t>(ticks)) * ns_per_tick_, -most, most));
  }
  std::uint64_t ticks_of(std::uint64_t ns) const noexcept {
    return static_cast<std::uint64_t>(static_cast<double>(ns) * ticks_per_ns_);
  }

  // The first node's clock is now ahead of this node's by `ahead_ns`, with this uncertainty.
  void set_offset(std::int64_t ahead_ns, std::uint64_t uncertainty_ns) noexcept {
    ahead_ns_ = ahead_ns;
    uncertainty_ns_ = uncertainty_ns;
    compared_ = latest_ = recorder::read_clock_pair();
  }
  std::int64_t ahead_ns() const noexcept { return ahead_ns_; }
  // Time since the offset was set.
  std::uint64_t span_ns() const noexcept { return recorder::read_ns(CLOCK_MONOTONIC_RAW) - compared_.monotonic_ns; }

  // Converts a time of this node, CLOCK_MONOTONIC_RAW, to the first node's clock, with its uncertainty there.
  std::uint64_t first_node_ns(std::uint64_t own_ns) const noexcept {
    return own_ns + static_cast<std::uint64_t>(ahead_ns_);
  }
  // Crystals of servers drift by up to about 20 parts in a million relative to one another.
  std::uint64_t uncertainty_ns(std::uint64_t own_ns) const noexcept {
    return uncertainty_ns_ + (own_ns - compared_.monotonic_ns) / 50'000;
  }
  // CLOCK_MONOTONIC_RAW at `ticks`.
  std::uint64_t raw_ns_of(std::uint64_t ticks) noexcept;

 private:
  double ticks_per_ns_ = 1;
  double ns_per_tick_ = 1;
  std::int64_t ahead_ns_ = 0;
  std::uint64_t uncertainty_ns_ = 0;
  format::ClockPair compared_{};  // when the clocks were compared
  format::ClockPair latest_{};    // both clocks of this node, as read last
  double raw_ns_per_tick_ = 1;    // between compared_ and latest_
};

}  // namespace tare::mpi::sampling

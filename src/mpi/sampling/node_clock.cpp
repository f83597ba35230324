#include "mpi/sampling/node_clock.h"

namespace tare::mpi::sampling {

// Ticks are converted with the rate between two readings of both clocks. The rate is the more exact the further the
// readings lie apart. So the second reading is renewed when a time lies beyond it by an eighth of that distance.
std::uint64_t NodeClock::raw_ns_of(std::uint64_t ticks) noexcept {
  if (ticks - compared_.ticks >= (latest_.ticks - compared_.ticks) / 8 * 9) [[unlikely]] {
    latest_ = recorder::read_clock_pair();
    raw_ns_per_tick_ = static_cast<double>(latest_.monotonic_ns - compared_.monotonic_ns) /
                       static_cast<double>(latest_.ticks - compared_.ticks);
  }
  const auto since = static_cast<double>(static_cast<std::int64_t>(ticks - latest_.ticks));
  return latest_.monotonic_ns + static_cast<std::uint64_t>(static_cast<std::int64_t>(since * raw_ns_per_tick_));
}

}  // namespace tare::mpi::sampling

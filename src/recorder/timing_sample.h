// Chooses which calls are timed, among calls that never wait.
//
// A call that only starts something, such as MPI_Isend, takes about the same time each time. Reading the clock twice is
// a third of the cost of measuring it. So after the first 64 calls of a row, one in 9 is timed on average, chosen at
// random. It also represents the untimed calls before it (ProfileRow::pending). Calls and bytes are exact. The time is
// an estimate; the reader computes its error from the variance of the times (Cochran, Sampling Techniques, 3rd ed.,
// section 2.6). With a trace, all calls are timed.
//
// If a budget (budget/governor.h) does not allow to time all calls, calls that may wait are sampled too, in rows whose
// calls are brief on average. For longer calls the cost of reading the clock does not matter.
#pragma once

#include <cstdint>

namespace tare::recorder {

// Zero-initialised. Only the owning thread uses it.
struct TimingSample {
  static constexpr std::uint32_t first_calls = 64;  // calls of a row, all timed
  static constexpr std::uint32_t max_untimed = 15;
  static constexpr std::uint64_t brief_ns = 1024;  // approximate: a tick is taken for a power of two

  std::uint64_t state;  // of a linear congruential generator (Knuth, MMIX)

  // How many of the next calls are not timed: 1 to max_untimed, with equal probability.
  std::uint8_t draw() noexcept {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::uint8_t>(1 + ((state >> 32) * max_untimed >> 32));
  }
};

}  // namespace tare::recorder

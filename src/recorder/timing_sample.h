// Timing by sample: which calls of a kind are timed that never wait.
//
// Reading the clock twice is a third of what measuring a call costs that only starts something, as MPI_Isend does. Such
// calls last about the same each time, and nothing waits in them. So of the calls of one site, after the first 64 of a
// row, one in 9 is timed on average, chosen at random, and stands for those before it that were not (ProfileRow::
// pending). Calls and bytes are exact; the time is an estimate, whose error the reader knows from the variance of the
// times (Cochran, Sampling Techniques, 3rd ed., section 2.6). With a trace all calls are timed.
//
// Where a run has a budget (budget/governor.h) that does not allow to time all calls, the same is done with calls that
// may wait, of rows whose calls are brief on average. Where they are not, reading the clock does not matter.
#pragma once

#include <cstdint>

namespace tare::recorder {

// Zero-initialised. Only the owning thread uses it.
struct TimingSample {
  static constexpr std::uint32_t first_calls = 64;  // of a row, which are timed
  static constexpr std::uint32_t most_untimed = 15;
  static constexpr std::uint64_t brief_ns = 1024;  // about, by the clock's ticks

  std::uint64_t state;  // of a linear congruential generator (Knuth, MMIX)

  // How many of the next calls need not be timed: 1 to most_untimed, all as likely.
  std::uint8_t draw() noexcept {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::uint8_t>(1 + ((state >> 32) * most_untimed >> 32));
  }
};

}  // namespace tare::recorder

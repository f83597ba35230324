// Measures at start what counting a call of a look-up function costs on this machine. Counting is an increment. Reading
// the clock takes ten times as long, so single calls cannot be weighed in place as timed calls are
// (recorder/account/weighing.h).
#pragma once

#include <algorithm>

#include "mpi/calls/measure.h"

namespace tare::mpi {

// In ticks, for `calibration_calls`: the fastest of several batches.
constexpr int calibration_calls = 64;
[[gnu::cold, gnu::noinline]] inline std::uint64_t cost_of_lookups(Thread& thread) noexcept {
  constexpr int batches = 12;
  std::uint64_t best = UINT64_MAX;
  for (int batch = 0; batch < batches; ++batch) {
    const std::uint64_t start = recorder::now();
    for (int i = 0; i < calibration_calls; ++i)
      count_call(Function::none, stack::Caller::asks, __builtin_return_address(0));
    best = std::min(best, recorder::now() - start);
  }
  thread.shared().lookups[0] = 0;
  return best;
}

}  // namespace tare::mpi

// Offload points that the clock makes. Round r begins r intervals after an epoch that all ranks know (TARE_MONITOR). No
// thread is woken: at the end of one of its MPI calls, which reads the clock anyway, a thread finds that a round has
// begun. A rank that makes no call for a while skips rounds. Rounds have the same numbers on all ranks, as far as the
// real-time clocks of the nodes agree.
#pragma once

#include <cstdint>

#include "format/clock_pair.h"

namespace tare::monitor {

class Timer {
 public:
  // The first call looks at the clock. An interval of 0: there is no timer.
  void begin(std::uint64_t interval_ns, std::uint64_t epoch_ns, const format::ClockPair& start) noexcept;
  // For a call that ended at `ticks`, at or after offload_due: the round that has begun, or 0 if it is not a new one.
  // Sets the next offload_due.
  std::uint64_t round_at(std::uint64_t ticks) noexcept;
  // The rate of the calls' clock, measured since begin(): inexact at first.
  double ticks_per_ns(std::uint64_t ticks) const noexcept;

 private:
  void look_again(std::uint64_t ticks, std::uint64_t wait_ns) const noexcept;

  std::uint64_t interval_ns_ = 0;
  std::uint64_t epoch_ns_ = 0;
  std::uint64_t last_ = 0;
  format::ClockPair start_{};
};

}  // namespace tare::monitor

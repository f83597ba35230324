// Offload points that the clock makes: round r begins r intervals after an epoch that all ranks know (TARE_MONITOR).
// Nobody is woken: a thread finds at one of its MPI calls, which have read the clock anyway, that a round has begun. A
// rank that makes no call for a while skips rounds; those that it comes to have the same numbers on all ranks, as far
// as the real-time clocks of the nodes agree.
#pragma once

#include <cstdint>

#include "format/clock_pair.h"

namespace tare::monitor {

class Timer {
 public:
  // The first call looks. An interval of 0: there is no timer.
  void begin(std::uint64_t interval_ns, std::uint64_t epoch_ns, const format::ClockPair& start) noexcept;
  // Of a call that ended at `ticks`, when offload_due had come: the round that has begun, 0 if it is not a new one.
  // Says when to look again.
  std::uint64_t round_at(std::uint64_t ticks) noexcept;
  // The rate of the clock of calls, as the time since begin() tells it: rough at first.
  double ticks_per_ns(std::uint64_t ticks) const noexcept;

 private:
  void look_again(std::uint64_t ticks, std::uint64_t wait_ns) const noexcept;

  std::uint64_t interval_ns_ = 0;
  std::uint64_t epoch_ns_ = 0;
  std::uint64_t last_ = 0;
  format::ClockPair start_{};
};

}  // namespace tare::monitor

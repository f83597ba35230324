// Weighs calls in place: measures how much of the program's time the wrappers take.
//
// One call in some hundreds reads the clock twice more: where its wrapper begins, and where it ends. The cost of the
// wrapper is (enter - begin) + (end - leave); enter and leave are the clock readings that time every call. The two
// further readings add nothing to it: each of the two spans begins and ends in the middle of a reading, so both
// together contain two readings, as many as the wrapper of any call makes. Three costs are not in it: the jump through
// a table before the wrapper begins, cache misses that the wrapper causes later, and drains, which are timed on their
// own.
//
// Weighed calls are chosen at random, so that they do not follow a period of the program.
#pragma once

#include <cstdint>

#include "format/weighed.h"
#include "recorder/clock.h"

namespace tare::recorder {

// Zero-initialised: the first call of a thread is weighed. Only the owning thread uses it.
struct Weighing {
  // The mean distance between weighed calls. Weighing takes some 100 ns, so less than half a nanosecond for each call.
  static constexpr std::uint32_t mean_gap = 256;
  // The first calls of a location are all weighed.
  static constexpr std::uint32_t first_calls = 32;
  // If a wrapper takes longer, the thread was interrupted.
  static constexpr std::uint64_t longest_ns = 100'000;

  std::uint64_t begin;
  std::uint64_t flush_ticks;  // LocationSummary::flush_ticks at `begin`
  std::uint64_t random;
  std::uint64_t begun;    // calls up to the last weighed one
  std::uint64_t own;      // ticks of the wrapper of the last weighed call; 0: it was a first call, or interrupted
  std::uint32_t gap;      // the value of `left` at the last weighed call
  std::uint32_t reading;  // of clock_ticks(); 0: not known yet
  std::uint32_t first;    // how many of the first calls have been weighed
  // The only one that every call needs is the last one, beside what else it needs (location.h).
  std::uint32_t left;  // calls up to the next weighed one; 0: this one is weighed

  // A wrapper begins.
  [[gnu::always_inline]] void begin_call(const std::uint64_t& flushed) noexcept {
    if (left-- <= 1) [[unlikely]]
      start(flushed);
  }
  bool is_under_way() const noexcept { return left == 0; }

  // So many ticks of the wrapper that is under way are of other code, and are measured apart.
  void leave_out(std::uint64_t ticks) noexcept {
    if (is_under_way()) begin += ticks;
  }

  // The next call is weighed instead.
  void weigh_next() noexcept { wait(1); }
  // Ticks that a reading of the clock adds to a time.
  std::uint64_t clock_ticks() noexcept;
  // The number of calls that have begun.
  std::uint64_t calls() const noexcept { return begun + gap - left; }
  // The wrapper of a timed call has ended at `end`. `ticks`: of the MPI function.
  void end_call(format::WeighedCalls* kinds, unsigned kind, std::uint64_t ticks, std::uint64_t flushed,
                std::uint64_t end) noexcept {
    note(kinds, kind, end - begin - ticks, flushed);
  }
  // The same for a wrapper that reads the clock only because it is weighed.
  void end_untimed_call(format::WeighedCalls* kinds, unsigned kind, std::uint64_t ticks, std::uint64_t flushed,
                        std::uint64_t end) noexcept;

 private:
  void wait(std::uint32_t calls_up_to_next) noexcept {
    begun = calls();
    gap = left = calls_up_to_next;
  }
  [[gnu::cold, gnu::noinline]] void start(const std::uint64_t& flushed) noexcept;
  [[gnu::cold, gnu::noinline]] void note(format::WeighedCalls* kinds, unsigned kind, std::uint64_t ticks,
                                         std::uint64_t flushed) noexcept;
};

}  // namespace tare::recorder

// Weighing calls in place: what the library's own work takes of the program's time, measured where it takes it.
//
// One call in some hundreds reads the clock twice more: where its wrapper begins, and where it ends. The wrapper's cost
// is then (enter - begin) + (end - leave), with the clock readings that time every call. What the two more readings
// take is not in it: each of the two spans begins and ends in the middle of a reading, so both together hold two
// readings, as many as the wrapper of a call that is not weighed makes. What the processor does before the wrapper
// begins (a jump through a table) and what the wrapper displaces from the caches is not in it either; nor is the time
// of drains, which are timed themselves.
//
// Which call is weighed is chosen at random, so that it does not fall into step with the program.
#pragma once

#include <cstdint>

#include "format/weighed.h"
#include "recorder/clock.h"

namespace tare::recorder {

// Zero-initialised: the first call of a thread is weighed. Only the owning thread uses it.
struct Weighing {
  // The average distance between calls that are weighed. At about 100 ns for a call that is weighed, less than half a
  // nanosecond a call.
  static constexpr std::uint32_t mean_gap = 256;
  // So many calls of a location are weighed one after another when it begins.
  static constexpr std::uint32_t first_calls = 32;
  // If it takes longer, the thread was interrupted.
  static constexpr std::uint64_t longest_ns = 100'000;

  std::uint32_t left;   // calls up to the next one that is weighed; 0: this one is
  std::uint32_t first;  // of the first calls, how many have been weighed
  std::uint64_t begin;
  std::uint64_t flush_ticks;  // LocationSummary::flush_ticks at `begin`
  std::uint64_t random;
  std::uint64_t begun;  // calls up to the last that was weighed
  std::uint32_t gap;    // what `left` was then
  std::uint64_t own;    // ticks of the wrapper of the last that was weighed; 0: of a first one, or interrupted

  // A wrapper begins.
  [[gnu::always_inline]] void begin_call(const std::uint64_t& flushed) noexcept {
    if (left-- <= 1) [[unlikely]]
      start(flushed);
  }
  bool is_under_way() const noexcept { return left == 0; }

  // The next call is weighed instead.
  void weigh_next() noexcept { wait(1); }
  // Calls that have begun.
  std::uint64_t calls() const noexcept { return begun + gap - left; }
  // A wrapper has ended at `end`, of a call that was timed. `ticks`: of the MPI function.
  void end_call(format::WeighedCalls* kinds, unsigned kind, std::uint64_t ticks, std::uint64_t flushed,
                std::uint64_t end) noexcept {
    note(kinds, kind, end - begin - ticks, flushed);
  }
  // The same of one whose wrapper does not read the clock otherwise.
  void end_untimed_call(format::WeighedCalls* kinds, unsigned kind, std::uint64_t ticks,
                        std::uint64_t flushed) noexcept;

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

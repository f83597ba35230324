// The clock: the invariant counter of the processor, if the kernel itself uses it, else CLOCK_MONOTONIC_RAW. A reading
// is in raw ticks. The reader converts ticks with ClockPairs, which are taken now and then.
#pragma once

#include <cstdint>
#include <ctime>

#include "format/clock_pair.h"
#include "processor/counter.h"

namespace tare::recorder {

// Whether ticks come from the processor's counter. Set once, by choose_clock().
[[gnu::visibility("hidden")]] extern bool clock_is_counter;

inline std::uint64_t read_ns(clockid_t clock) noexcept {
  timespec t;
  clock_gettime(clock, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(t.tv_nsec);
}

using processor::read_counter;

// The clock of a machine whose counter the kernel does not use. Apart, so that no call fetches its code.
[[gnu::cold, gnu::noinline]] std::uint64_t read_raw_clock() noexcept;

// Always inlined, because compilers would not inline it into long wrappers.
[[gnu::always_inline]] inline std::uint64_t now() noexcept {
  if (clock_is_counter) [[likely]]
    return read_counter();
  return read_raw_clock();
}

// Decides which clock now() reads; to be called before its first use. Idempotent.
void choose_clock() noexcept;

format::ClockKind clock_kind() noexcept;

// Reads both clocks. The ticks are the middle of the shortest of a few readings, so that an interruption does not
// matter.
format::ClockPair read_clock_pair() noexcept;

// CLOCK_REALTIME when CLOCK_MONOTONIC_RAW was `monotonic_ns`, a short time ago. An interruption does not matter here
// either: the ranks of a node would have different times.
std::uint64_t realtime_at(std::uint64_t monotonic_ns) noexcept;

// How long ago the library was loaded, which is before the program's main: in microseconds before `monotonic_ns`, a
// reading of CLOCK_MONOTONIC_RAW; UINT32_MAX if that is longer. 0: not known, as in a forked child.
std::uint32_t us_since_load(std::uint64_t monotonic_ns) noexcept;

// Bits of a tick that are finer than a nanosecond: times on disk are shifted by them.
unsigned tick_shift() noexcept;

// How many ticks a duration has, and the reverse: only the power of two of the length of a tick is known here. So a
// limit of n nanoseconds is one of n/2 to n.
std::uint64_t about_ticks(std::uint64_t ns) noexcept;
std::uint64_t about_ns(std::uint64_t ticks) noexcept;

}  // namespace tare::recorder

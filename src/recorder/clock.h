// tare's clock: the processor's invariant counter where the kernel itself keeps time with it, else
// CLOCK_MONOTONIC_RAW. What depends on the processor is here. Readings are raw ticks; ClockPairs taken now
// and then let the reader convert them.
#pragma once

#include <cstdint>
#include <ctime>
#if defined(__x86_64__)
#  include <x86intrin.h>
#endif

#include "format/clock_pair.h"

namespace tare::recorder {

// Whether ticks come from the processor's counter. Set once, by choose_clock().
[[gnu::visibility("hidden")]] extern bool clock_is_counter;

inline std::uint64_t read_ns(clockid_t clock) noexcept {
  timespec t;
  clock_gettime(clock, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(t.tv_nsec);
}

inline std::uint64_t read_counter() noexcept {
#if defined(__x86_64__)
  return __rdtsc();
#elif defined(__aarch64__)
  std::uint64_t ticks;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#else
#  error "read_counter: not written for this processor"
#endif
}

// In every wrapper, also those that are so long that a compiler would not.
[[gnu::always_inline]] inline std::uint64_t now() noexcept {
  return clock_is_counter ? read_counter() : read_ns(CLOCK_MONOTONIC_RAW);
}

// Decides which clock now() reads; to be called before its first use. Idempotent.
void choose_clock() noexcept;

format::ClockKind clock_kind() noexcept;

// Both clocks, read together: the ticks lie in the middle of the shortest of a few readings of the other.
format::ClockPair read_clock_pair() noexcept;

// Bits of a tick that are finer than a nanosecond: times on disk are shifted by them.
unsigned tick_shift() noexcept;

}  // namespace tare::recorder

// What recording calls cost, weighed where it happened: a sample of calls, by what kind of call they were.
#pragma once

#include <cstdint>

#include "format/function_meaning.h"

namespace tare::format {

// The kinds of calls: those of CallClass, and calls of any class whose time is estimated (ProfileRow::estimated).
inline constexpr unsigned untimed = static_cast<unsigned>(CallClass::other) + 1;
inline constexpr unsigned weighed_kinds = untimed + 1;

// Of one kind and location. All of a thread's first calls are weighed, and are told apart from the sample that follows:
// they meet cold caches and pages that are not there yet.
struct WeighedCalls {
  std::uint32_t kind;
  std::uint32_t interrupted;  // of the sample, but not in what follows: something else ran meanwhile
  std::uint64_t first_calls;
  std::uint64_t first_ticks;
  std::uint64_t calls;
  std::uint64_t ticks;
  double ticks_squared;  // sum of the squares
};
static_assert(sizeof(WeighedCalls) == 48);

}  // namespace tare::format

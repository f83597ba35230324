// The cost of recording calls, weighed where they are made: a sample of calls, by kind of call.
#pragma once

#include <cstdint>

#include "format/function_meaning.h"

namespace tare::format {

// The kinds of calls: those of CallClass, and calls of any class whose time is estimated (ProfileRow::estimated).
inline constexpr unsigned untimed = static_cast<unsigned>(CallClass::other) + 1;
inline constexpr unsigned weighed_kinds = untimed + 1;

// The weighed calls of one kind and location. The first calls of a thread are all weighed, and kept apart from the
// sample that follows, because they meet cold caches and untouched pages.
struct WeighedCalls {
  std::uint32_t kind;
  std::uint32_t interrupted;  // weighed calls that are not in the following sums, because the thread was interrupted
  std::uint64_t first_calls;
  std::uint64_t first_ticks;
  std::uint64_t calls;
  std::uint64_t ticks;
  double ticks_squared;  // sum of the squares
};
static_assert(sizeof(WeighedCalls) == 48);

}  // namespace tare::format

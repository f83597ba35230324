// What keeps the usual call short. The program's computation between two calls evicts tare from the caches, so every
// line of code or data that a call needs is fetched again for each call.
#pragma once

// Variables that nearly every call reads are defined with it, and lie in one cache line
// (tests/unit/test_every_call.py). Compilers align large ones more than they need, unless alignas says how.
#define TARE_EVERY_CALL [[gnu::section(".tare.every_call")]]

namespace tare::recorder {

// A condition that holds in few of many calls. Compilers put the code for it behind that of the usual call; that of
// [[unlikely]], a tenth of all calls, often stays in between. Of `a || b`, each is to be said to hold seldom.
[[gnu::always_inline]] inline bool seldom(bool holds) noexcept {
  return __builtin_expect_with_probability(static_cast<long>(holds), 0, 0.9999) != 0;
}

}  // namespace tare::recorder

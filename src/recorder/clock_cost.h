// What reading the clock costs.
#pragma once

#include <algorithm>
#include <cstdint>

#include "recorder/clock.h"

namespace tare::recorder {

// Ticks that a reading of the clock adds to a time: the least of so many readings, because any may be interrupted.
inline std::uint64_t reading_ticks(unsigned readings) noexcept {
  std::uint64_t least = UINT64_MAX;
  for (unsigned i = 0; i < readings; ++i) {
    const std::uint64_t start = now();
    least = std::min(least, now() - start);
  }
  return least;
}

}  // namespace tare::recorder

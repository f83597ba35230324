// What reading the clock costs.
#pragma once

#include <algorithm>
#include <cstdint>

#include "recorder/clock.h"

namespace tare::recorder {

// Ticks that a reading of the clock adds to a time: the least mean of several batches, because any reading may be
// interrupted. Single readings do not tell: some AMD processors have two that follow each other at once differ by
// one tick.
inline std::uint64_t reading_ticks() noexcept {
  constexpr unsigned batches = 8;
  constexpr unsigned readings = 8;
  std::uint64_t least = UINT64_MAX;
  for (unsigned batch = 0; batch < batches; ++batch) {
    const std::uint64_t start = now();
    std::uint64_t last = start;
    for (unsigned i = 0; i < readings; ++i) last = now();
    least = std::min(least, last - start);
  }
  return (least + readings / 2) / readings;
}

}  // namespace tare::recorder

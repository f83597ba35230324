// Readings of the clock in which times are recorded.
#pragma once

#include <cstdint>

namespace tare::format {

enum class ClockKind : std::uint8_t { monotonic_raw = 0, tsc = 1 };

// Readings of tare's clock and the kernel's at the same time. Two of them convert ticks to time.
struct ClockPair {
  std::uint64_t ticks;
  std::uint64_t monotonic_ns;  // CLOCK_MONOTONIC_RAW
};

// The ticks that are `ns` before `end`, at the rate between two clock pairs; 0 if that is not known.
inline std::uint64_t ticks_before(std::uint64_t end, std::uint64_t ns, const ClockPair& from,
                                  const ClockPair& to) noexcept {
  if (to.monotonic_ns <= from.monotonic_ns || to.ticks <= from.ticks) return 0;
  const double per_ns =
      static_cast<double>(to.ticks - from.ticks) / static_cast<double>(to.monotonic_ns - from.monotonic_ns);
  const double ticks = static_cast<double>(ns) * per_ns;
  return ticks < static_cast<double>(end) ? end - static_cast<std::uint64_t>(ticks) : 0;
}

}  // namespace tare::format

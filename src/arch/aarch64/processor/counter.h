// The invariant counter of the processor: the generic timer.
#pragma once

#include <cstdint>

namespace tare::processor {

inline std::uint64_t read_counter() noexcept {
  std::uint64_t ticks;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
}

// Whether the counter is steady and equal on all processors by the architecture alone. If not, the kernel has to say
// so.
inline constexpr bool counter_is_architectural = true;

}  // namespace tare::processor

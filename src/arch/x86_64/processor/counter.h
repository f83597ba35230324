// The invariant counter of the processor: the time stamp counter.
#pragma once

#include <cstdint>

namespace tare::processor {

// (__rdtsc() is this, in a header that takes as long to compile as most files.)
inline std::uint64_t read_counter() noexcept { return __builtin_ia32_rdtsc(); }

// Whether the counter is steady and equal on all processors by the architecture alone. If not, the kernel has to say
// so.
inline constexpr bool counter_is_architectural = false;

}  // namespace tare::processor

// Fetches lines of memory ahead.
#pragma once

namespace tare::processor {

// Fetches a line that will be written. A no-op on processors without the instruction.
inline void fetch_to_write(const void* line) noexcept {
  __asm__ volatile("prefetchw %0" : : "m"(*static_cast<const char*>(line)));
}

}  // namespace tare::processor

#include "stack/own_code.h"

extern "C" {
// The image of this library: the linker defines where it starts and where its code ends.
[[gnu::visibility("hidden")]] extern const char __ehdr_start[];
[[gnu::visibility("hidden")]] extern const char etext[];
}

namespace tare::stack {

bool is_own_code(std::uintptr_t address) noexcept {
  const auto start = reinterpret_cast<std::uintptr_t>(__ehdr_start);
  return address - start < static_cast<std::uintptr_t>(etext - __ehdr_start);
}

}  // namespace tare::stack

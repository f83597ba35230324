// Registers that an unwinder follows, in DWARF's numbering.
#pragma once

#include <cstdint>

namespace tare::processor {

inline constexpr unsigned base_register = 29;
inline constexpr unsigned stack_register = 31;
inline constexpr unsigned return_register = 30;

// Removes the signature of a return address (pointer authentication).
inline std::uintptr_t without_signature(std::uintptr_t address) noexcept {
  register std::uintptr_t link __asm__("x30") = address;
  __asm__("hint #7" : "+r"(link));  // xpaclri; a no-op on processors without it
  return link;
}

}  // namespace tare::processor

// The arguments of a call that a stub decides about (TARE_DECIDE in stubs.S).
#pragma once

#include <cstdint>

namespace tare::processor {

// Argument `number`, from 0 on, of a call without floating-point arguments. `stack`: the stack pointer of the frame
// that calls.
inline std::uintptr_t argument(std::uintptr_t stack, unsigned number) noexcept {
  constexpr unsigned in_registers = 8;  // which the stub has stored in its frame of 28 words, behind two others
  const auto* words = reinterpret_cast<const std::uintptr_t*>(stack);
  return number < in_registers ? *(words - 26 + number) : words[number - in_registers];
}

}  // namespace tare::processor

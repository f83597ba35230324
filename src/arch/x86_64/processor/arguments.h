// The arguments of a call that a stub decides about (TARE_DECIDE in stubs.S).
#pragma once

#include <cstdint>

namespace tare::processor {

// Argument `number`, from 0 on, of a call without floating-point arguments. `stack`: the stack pointer of the frame
// that calls.
inline std::uintptr_t argument(std::uintptr_t stack, unsigned number) noexcept {
  constexpr unsigned in_registers = 6;  // which the stub has pushed below the return address, the first one first
  const auto* words = reinterpret_cast<const std::uintptr_t*>(stack);
  return number < in_registers ? *(words - 2 - number) : words[number - in_registers];
}

}  // namespace tare::processor

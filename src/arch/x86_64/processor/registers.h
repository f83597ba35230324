// Registers that an unwinder follows, in DWARF's numbering (System V ABI, figure 3.36).
#pragma once

#include <cstdint>

namespace tare::processor {

inline constexpr unsigned base_register = 6;   // rbp
inline constexpr unsigned stack_register = 7;  // rsp
inline constexpr unsigned return_register = 16;

// Removes the signature of a return address: there are none.
inline std::uintptr_t without_signature(std::uintptr_t address) noexcept { return address; }

}  // namespace tare::processor

#pragma once

#include <cstdint>

namespace tare::stack {

// Whether an address lies in the code of the library that this is linked into.
bool is_own_code(std::uintptr_t address) noexcept;

}  // namespace tare::stack

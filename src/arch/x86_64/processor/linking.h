// What the dynamic linker's tables and this library's stubs look like.
#pragma once

#include <elf.h>

namespace tare::processor {

// Whether a relocation of this type stores the address of a symbol.
constexpr bool refers_to_symbol(unsigned type) noexcept {
  return type == R_X86_64_GLOB_DAT || type == R_X86_64_JUMP_SLOT || type == R_X86_64_64;
}

// Bytes of one of tare_asked_stubs (stubs.S).
inline constexpr unsigned asked_stub_bytes = 16;

}  // namespace tare::processor

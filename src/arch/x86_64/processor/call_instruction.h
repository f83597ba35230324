// Reads machine code around calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

namespace tare::processor {

// Bytes before a return address that hold the call, and bytes at the start of an entry of the procedure linkage table.
inline constexpr std::size_t call_bytes = 6;
inline constexpr std::size_t jump_bytes = 11;

struct Call {
  enum Kind : std::uint8_t { unknown, direct, through_slot } kind = unknown;
  std::uint64_t address = 0;  // of the function, or of the slot that holds the function's address
};

inline std::uint64_t relative_to(std::uint64_t next, const unsigned char* bytes) noexcept {
  std::int32_t distance;
  std::memcpy(&distance, bytes, sizeof distance);
  return next + static_cast<std::uint64_t>(std::int64_t{distance});
}

// The call that ends at a return address.
inline Call call_before(std::uint64_t return_address, const unsigned char (&code)[call_bytes]) noexcept {
  if (code[1] == 0xe8) return {Call::direct, relative_to(return_address, code + 2)};  // call function
  if (code[0] == 0xff && code[1] == 0x15) return {Call::through_slot, relative_to(return_address, code + 2)};
  return {};
}

// The slot to which an entry of the procedure linkage table jumps: [endbr64] [bnd] jmp *slot(%rip)
inline std::optional<std::uint64_t> slot_of_jump(std::uint64_t address,
                                                 const unsigned char (&code)[jump_bytes]) noexcept {
  constexpr unsigned char endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
  std::size_t at = std::memcmp(code, endbr64, sizeof endbr64) == 0 ? sizeof endbr64 : 0;
  if (code[at] == 0xf2) ++at;
  if (code[at] != 0xff || code[at + 1] != 0x25) return std::nullopt;
  return relative_to(address + at + 6, code + at + 2);
}

}  // namespace tare::processor

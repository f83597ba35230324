// Reads machine code around calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

namespace tare::processor {

// Bytes before a return address that hold the call, and bytes at the start of an entry of the procedure linkage table.
inline constexpr std::size_t call_bytes = 4;
inline constexpr std::size_t jump_bytes = 16;

struct Call {
  enum Kind : std::uint8_t { unknown, direct, through_slot } kind = unknown;
  std::uint64_t address = 0;  // of the function, or of the slot that holds the function's address
};

// The call that ends at a return address.
inline Call call_before(std::uint64_t return_address, const unsigned char (&code)[call_bytes]) noexcept {
  std::uint32_t word;
  std::memcpy(&word, code, sizeof word);
  if (word >> 26 != 0x25) return {};  // bl function
  const std::int64_t words = static_cast<std::int32_t>(word << 6) >> 6;
  return {Call::direct, return_address - call_bytes + static_cast<std::uint64_t>(words * 4)};
}

// The slot to which an entry of the procedure linkage table jumps: not known here, as the reader finds no name by it.
inline std::optional<std::uint64_t> slot_of_jump(std::uint64_t, const unsigned char (&)[jump_bytes]) noexcept {
  return std::nullopt;
}

}  // namespace tare::processor

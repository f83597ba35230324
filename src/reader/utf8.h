// Text of programs, which may be any bytes, as UTF-8.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace tare::reader {

// The character at the start of `bytes`, which is not empty, and how many bytes it has; 0: it is not valid.
struct Character {
  std::size_t bytes = 0;
  std::uint32_t code = 0;
};
inline Character first_character(std::string_view bytes) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return {1, first};
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || bytes.size() < length) return {};
  std::uint32_t code = first & (0x7fU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0U) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3fU);
  }
  constexpr std::uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = code >= 0xd800 && code < 0xe000;
  return code < smallest[length] || code > 0x10ffff || is_surrogate ? Character{} : Character{length, code};
}

// The text with escapes like "\\xff" for the bytes of what is no valid character, or is not `shown`.
template <typename IsShown>
std::string escaped(std::string_view bytes, const IsShown& is_shown) {
  std::string text;
  text.reserve(bytes.size());
  while (!bytes.empty()) {
    const Character next = first_character(bytes);
    if (next.bytes != 0 && is_shown(next.code)) {
      text += bytes.substr(0, next.bytes);
      bytes.remove_prefix(next.bytes);
      continue;
    }
    char escape[5];
    std::snprintf(escape, sizeof escape, "\\x%02x", static_cast<unsigned>(static_cast<unsigned char>(bytes[0])));
    text += escape;
    bytes.remove_prefix(1);
  }
  return text;
}

}  // namespace tare::reader

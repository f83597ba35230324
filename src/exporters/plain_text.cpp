#include "exporters/plain_text.h"

#include <cstddef>
#include <cstdint>

namespace tare::exporters {
namespace {

// Bytes of the character at the start of `bytes`, which is not empty; 0 if it is no valid one, or a control character.
std::size_t character_length(std::string_view bytes) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return first < 0x20 || first == 0x7f ? 0 : 1;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || bytes.size() < length) return 0;
  std::uint32_t code = first & (0x7fU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0U) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3fU);
  }
  constexpr std::uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = code >= 0xd800 && code < 0xe000;
  const bool is_control = code < 0xa0 || code == 0x2028 || code == 0x2029;  // C1, and line ends of Unicode
  return code < smallest[length] || code > 0x10ffff || is_surrogate || is_control ? 0 : length;
}

}  // namespace

std::string plain_text(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  while (!bytes.empty()) {
    std::size_t length = character_length(bytes);
    if (length != 0) {
      text.append(bytes.substr(0, length));
    } else {
      constexpr char digits[] = "0123456789abcdef";
      const auto byte = static_cast<unsigned char>(bytes[0]);
      text.append({'\\', 'x', digits[byte >> 4], digits[byte & 15U]});
      length = 1;
    }
    bytes.remove_prefix(length);
  }
  return text;
}

}  // namespace tare::exporters

#include "format/column.h"

#include <bit>
#include <cstring>

namespace tare::format {
namespace {

constexpr unsigned bytes_of_unsigned(std::uint64_t value) noexcept {
  return (static_cast<unsigned>(std::bit_width(value)) + 7) / 8;
}

// Bytes that hold `value` in two's complement.
constexpr unsigned bytes_of_signed(std::int64_t value) noexcept {
  const auto magnitude = static_cast<std::uint64_t>(value < 0 ? ~value : value);
  return value == 0 ? 0 : (static_cast<unsigned>(std::bit_width(magnitude)) + 8) / 8;
}

}  // namespace

char* encode_column(const std::int64_t* values, std::size_t n, char* out) noexcept {
  std::int64_t smallest = n == 0 ? 0 : values[0];
  std::int64_t largest = smallest;
  for (std::size_t i = 1; i < n; ++i) {
    smallest = values[i] < smallest ? values[i] : smallest;
    largest = values[i] > largest ? values[i] : largest;
  }
  const auto base = static_cast<std::uint64_t>(smallest);
  const unsigned width = bytes_of_unsigned(static_cast<std::uint64_t>(largest) - base);
  const unsigned base_bytes = bytes_of_signed(smallest);
  *out++ = static_cast<char>(width);
  *out++ = static_cast<char>(base_bytes);
  std::memcpy(out, &base, base_bytes);  // both supported processors are little-endian
  out += base_bytes;
  auto* plane = reinterpret_cast<unsigned char*>(out);
  for (unsigned p = 0; p < width; ++p, plane += n) {
    const unsigned shift = 8 * p;
    for (std::size_t i = 0; i < n; ++i)
      plane[i] = static_cast<unsigned char>((static_cast<std::uint64_t>(values[i]) - base) >> shift);
  }
  return out + width * n;
}

const char* decode_column(const char* in, const char* end, std::int64_t* values, std::size_t n) noexcept {
  if (end - in < 2) return nullptr;
  const auto width = static_cast<unsigned char>(*in++);
  const auto base_bytes = static_cast<unsigned char>(*in++);
  if (width > 8 || base_bytes > 8 || end - in < base_bytes) return nullptr;
  std::uint64_t base = 0;
  std::memcpy(&base, in, base_bytes);
  in += base_bytes;
  if (base_bytes > 0 && base_bytes < 8 && ((base >> (8 * base_bytes - 1)) & 1) != 0)
    base |= ~std::uint64_t{0} << (8 * base_bytes);
  if (width != 0 && static_cast<std::size_t>(end - in) / width < n) return nullptr;
  const auto* plane = reinterpret_cast<const unsigned char*>(in);
  for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<std::int64_t>(base);
  for (unsigned p = 0; p < width; ++p, plane += n) {
    const unsigned shift = 8 * p;
    for (std::size_t i = 0; i < n; ++i)
      values[i] = static_cast<std::int64_t>(static_cast<std::uint64_t>(values[i]) +
                                            (static_cast<std::uint64_t>(plane[i]) << shift));
  }
  return in + width * n;
}

}  // namespace tare::format

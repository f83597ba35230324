#include "format/column.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "processor/extensions.h"

namespace tare::format {
namespace {

constexpr unsigned bytes_of_unsigned(std::uint64_t value) noexcept {
  return (static_cast<unsigned>(std::bit_width(value)) + 7) / 8;
}

// The number of bytes that hold `value` in two's complement.
constexpr unsigned bytes_of_signed(std::int64_t value) noexcept {
  const auto magnitude = static_cast<std::uint64_t>(value < 0 ? ~value : value);
  return value == 0 ? 0 : (static_cast<unsigned>(std::bit_width(magnitude)) + 8) / 8;
}

struct Range {
  std::int64_t smallest;
  unsigned width;  // the number of planes that (value - smallest) needs
};

// The loops over a column, compiled for two kinds of processors. With AVX2, 64-bit comparisons and the narrowing to
// bytes are several times faster than with the instructions that every x86-64 has.
[[gnu::always_inline]] inline Range range_body(const std::int64_t* values, std::size_t n) noexcept {
  std::int64_t smallest = n == 0 ? 0 : values[0];
  std::int64_t largest = smallest;
  for (std::size_t i = 1; i < n; ++i) {
    smallest = values[i] < smallest ? values[i] : smallest;
    largest = values[i] > largest ? values[i] : largest;
  }
  return {smallest, bytes_of_unsigned(static_cast<std::uint64_t>(largest) - static_cast<std::uint64_t>(smallest))};
}

[[gnu::always_inline]] inline void planes_body(const std::int64_t* values, std::size_t n, Range range,
                                               unsigned char* plane) noexcept {
  const auto base = static_cast<std::uint64_t>(range.smallest);
  for (unsigned p = 0; p < range.width; ++p, plane += n) {
    const unsigned shift = 8 * p;
    for (std::size_t i = 0; i < n; ++i)
      plane[i] = static_cast<unsigned char>((static_cast<std::uint64_t>(values[i]) - base) >> shift);
  }
}

template <unsigned width>
[[gnu::always_inline]] inline void sum_planes(const unsigned char* plane, std::size_t n, std::uint64_t base,
                                              std::int64_t* values) noexcept {
  for (std::size_t i = 0; i < n; ++i) {
    std::uint64_t value = base;
    for (unsigned p = 0; p < width; ++p) value += static_cast<std::uint64_t>(plane[p * n + i]) << (8 * p);
    values[i] = static_cast<std::int64_t>(value);
  }
}

[[gnu::always_inline]] inline void sum_planes_body(const unsigned char* plane, unsigned width, std::size_t n,
                                                   std::uint64_t base, std::int64_t* values) noexcept {
  switch (width) {
    case 0:
      return sum_planes<0>(plane, n, base, values);
    case 1:
      return sum_planes<1>(plane, n, base, values);
    case 2:
      return sum_planes<2>(plane, n, base, values);
    case 3:
      return sum_planes<3>(plane, n, base, values);
    case 4:
      return sum_planes<4>(plane, n, base, values);
    case 5:
      return sum_planes<5>(plane, n, base, values);
    case 6:
      return sum_planes<6>(plane, n, base, values);
    case 7:
      return sum_planes<7>(plane, n, base, values);
    default:
      return sum_planes<8>(plane, n, base, values);
  }
}

TARE_WIDE Range range_wide(const std::int64_t* values, std::size_t n) noexcept { return range_body(values, n); }
TARE_WIDE void planes_wide(const std::int64_t* values, std::size_t n, Range range, unsigned char* plane) noexcept {
  planes_body(values, n, range, plane);
}
TARE_WIDE void sum_planes_wide(const unsigned char* plane, unsigned width, std::size_t n, std::uint64_t base,
                               std::int64_t* values) noexcept {
  sum_planes_body(plane, width, n, base, values);
}

Range range_of(const std::int64_t* values, std::size_t n) noexcept {
  return processor::has_wide() ? range_wide(values, n) : range_body(values, n);
}

constexpr unsigned char by_difference = 0x80;
constexpr unsigned char is_sparse = 0x40;

char* write_head(unsigned kind, std::int64_t base, char* out) noexcept {
  const unsigned base_bytes = bytes_of_signed(base);
  *out++ = static_cast<char>(kind);
  *out++ = static_cast<char>(base_bytes);
  std::memcpy(out, &base, base_bytes);  // both supported processors are little-endian
  return out + base_bytes;
}

char* write_column(const std::int64_t* values, std::size_t n, Range range, unsigned char flags, char* out) noexcept {
  out = write_head(range.width | flags, range.smallest, out);
  auto* plane = reinterpret_cast<unsigned char*>(out);
  processor::has_wide() ? planes_wide(values, n, range, plane) : planes_body(values, n, range, plane);
  return out + range.width * n;
}

}  // namespace

char* encode_column(const std::int64_t* values, std::size_t n, char* out) noexcept {
  return write_column(values, n, range_of(values, n), 0, out);
}

char* encode_shorter_column(const std::int64_t* values, std::size_t n, std::int64_t* scratch, char* out) noexcept {
  const Range range = range_of(values, n);
  if (n < 3 || range.width == 0) return write_column(values, n, range, 0, out);
  // The first value is no difference, and would widen the column. So it is stored at the end, and its place gets a copy
  // of another value.
  for (std::size_t i = 1; i < n; ++i)
    scratch[i] =
        static_cast<std::int64_t>(static_cast<std::uint64_t>(values[i]) - static_cast<std::uint64_t>(values[i - 1]));
  scratch[0] = scratch[1];
  const Range differences = range_of(scratch, n);
  if (differences.width >= range.width) return write_column(values, n, range, 0, out);
  out = write_column(scratch, n, differences, by_difference, out);
  std::memcpy(out, &values[0], sizeof values[0]);
  return out + sizeof values[0];
}

char* encode_sparse_column(const std::uint16_t* places, const std::int64_t* others, std::size_t count, std::size_t n,
                           std::int64_t usual, std::int64_t* scratch, char* out) noexcept {
  constexpr std::size_t most = 256;
  if (count > most || count > n / 8 + 1) {
    std::fill_n(scratch, n, usual);
    for (std::size_t i = 0; i < count; ++i) scratch[places[i]] = others[i];
    return encode_column(scratch, n, out);
  }
  out = write_head(count == 0 ? 0 : unsigned{is_sparse}, usual, out);
  if (count == 0) return out;
  const auto written = static_cast<std::uint16_t>(count);
  std::memcpy(out, &written, sizeof written);
  out += sizeof written;
  std::memcpy(out, places, count * sizeof places[0]);
  return encode_column(others, count, out + count * sizeof places[0]);
}

namespace {

// The values are `base`, except where the column says otherwise.
const char* decode_sparse(const char* in, const char* end, std::int64_t base, std::int64_t* values,
                          std::size_t n) noexcept {
  std::uint16_t count;
  if (end - in < static_cast<std::ptrdiff_t>(sizeof count)) return nullptr;
  std::memcpy(&count, in, sizeof count);
  const char* places = in + sizeof count;
  const char* column = places + count * sizeof count;
  if (count > n || end - places < static_cast<std::ptrdiff_t>(count * sizeof count)) return nullptr;
  if (end - column < 2 || (*column & is_sparse) != 0) return nullptr;
  in = decode_column(column, end, values, count);
  // They were decoded to the start of the array, so they are moved to their places in reverse order.
  std::size_t at = n;
  for (std::size_t i = count; in != nullptr && i-- != 0;) {
    std::uint16_t place;
    std::memcpy(&place, places + i * sizeof place, sizeof place);
    if (place >= at || place < i) return nullptr;
    while (--at != place) values[at] = base;
    values[place] = values[i];
  }
  while (at-- != 0) values[at] = base;
  return in;
}

}  // namespace

const char* decode_column(const char* in, const char* end, std::int64_t* values, std::size_t n) noexcept {
  if (end - in < 2) return nullptr;
  const auto flags = static_cast<unsigned char>(*in++);
  const unsigned width = flags & ~(by_difference | is_sparse);
  const auto base_bytes = static_cast<unsigned char>(*in++);
  if (width > 8 || base_bytes > 8 || end - in < base_bytes) return nullptr;
  std::uint64_t base = 0;
  std::memcpy(&base, in, base_bytes);
  in += base_bytes;
  if (base_bytes > 0 && base_bytes < 8 && ((base >> (8 * base_bytes - 1)) & 1) != 0)
    base |= ~std::uint64_t{0} << (8 * base_bytes);
  if (flags == is_sparse) return decode_sparse(in, end, static_cast<std::int64_t>(base), values, n);
  if ((flags & is_sparse) != 0) return nullptr;
  if (width != 0 && static_cast<std::size_t>(end - in) / width < n) return nullptr;
  const auto* plane = reinterpret_cast<const unsigned char*>(in);
  processor::has_wide() ? sum_planes_wide(plane, width, n, base, values)
                        : sum_planes_body(plane, width, n, base, values);
  in += width * n;
  if ((flags & by_difference) == 0) return in;
  if (end - in < 8 || n == 0) return nullptr;
  std::memcpy(&values[0], in, sizeof values[0]);
  for (std::size_t i = 1; i < n; ++i)
    values[i] =
        static_cast<std::int64_t>(static_cast<std::uint64_t>(values[i]) + static_cast<std::uint64_t>(values[i - 1]));
  return in + sizeof values[0];
}

}  // namespace tare::format

// One column of integers as bytes. Neighbouring values of a trace resemble one another in their high
// bytes and differ in their low ones, so values are cut into byte planes: all lowest bytes, then all second
// bytes, and so on. Planes that are all alike cost nothing, and zstd finds the rest.
//
//   u8 width          0: every value equals base. 1..8: number of planes. Bit 7 set: values but the
//                     first are differences to the one before, modulo 2^64; 8 bytes behind the planes hold the first
//   u8 base_bytes     0..8
//   base              base_bytes bytes, little-endian, two's complement: the smallest value, as a signed one
//   planes            width * n bytes: plane p holds bits 8p..8p+7 of (value - base), modulo 2^64
// With bit 6 of width set (and no other), all values are base but some:
//   u16 others        their number
//   places            others * u16, ascending
//   column            of their values, not of this kind
#pragma once

#include <cstddef>
#include <cstdint>

namespace tare::format {

// Largest size of an encoded column of n values.
constexpr std::size_t column_bound(std::size_t n) { return 2 + 8 + 8 * n + 8; }

// Values are signed; absent ones that are UINT64_MAX elsewhere are -1 here.
// Encodes n values at `out`, which has room for column_bound(n); returns the end of what was written.
char* encode_column(const std::int64_t* values, std::size_t n, char* out) noexcept;

// The same, by differences where they are narrower. `scratch` has room for n values.
char* encode_shorter_column(const std::int64_t* values, std::size_t n, std::int64_t* scratch, char* out) noexcept;

// The values of a column that are not the usual one, gathered in the order of their places.
template <std::size_t most>
struct OtherValues {
  std::int64_t values[most];
  std::uint16_t places[most];
  std::uint32_t count;
  void clear() noexcept { count = 0; }
  void add(std::size_t place, std::int64_t value) noexcept {
    values[count] = value;
    places[count++] = static_cast<std::uint16_t>(place);
  }
};

// The same of n values, at most 65536, of which all are `usual` but `count` others. Only these are written, with their
// places, if they are few. `scratch` has room for n values.
char* encode_sparse_column(const std::uint16_t* places, const std::int64_t* others, std::size_t count, std::size_t n,
                           std::int64_t usual, std::int64_t* scratch, char* out) noexcept;

// Decodes n values from [in, end); returns the end of the column, or nullptr if it is cut off or malformed.
const char* decode_column(const char* in, const char* end, std::int64_t* values, std::size_t n) noexcept;

}  // namespace tare::format

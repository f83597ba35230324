// A column of integers as bytes. Neighbouring values of a trace have similar high bytes and different low bytes. So
// values are cut into byte planes: all lowest bytes, then all second bytes, and so on. Planes of equal bytes take no
// space, and zstd finds the other repetitions.
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

// Values are signed. Absent values, which are UINT64_MAX elsewhere, are -1 here.
// Encodes n values at `out`, which must have room for column_bound(n). Returns the end of the written bytes.
char* encode_column(const std::int64_t* values, std::size_t n, char* out) noexcept;

// The same, with differences if these are narrower. `scratch` has room for n values.
char* encode_shorter_column(const std::int64_t* values, std::size_t n, std::int64_t* scratch, char* out) noexcept;

// The values of a column that differ from the usual one, in the order of their places.
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

// The same for n values, at most 65536, all of which are `usual` except for `count` others. If these are few, only they
// are written, with their places. `scratch` has room for n values.
char* encode_sparse_column(const std::uint16_t* places, const std::int64_t* others, std::size_t count, std::size_t n,
                           std::int64_t usual, std::int64_t* scratch, char* out) noexcept;

// Decodes n values from [in, end). Returns the end of the column, or nullptr if it is incomplete or malformed.
const char* decode_column(const char* in, const char* end, std::int64_t* values, std::size_t n) noexcept;

}  // namespace tare::format

// CRC-32C of any part of some bytes in nearly constant time, after one pass over them. For scans of damage, in which
// many headers may each claim a large part of the file.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "format/chunk.h"

namespace tare::reader {

class CrcRanges {
 public:
  // Refers to `bytes`, which must outlive it.
  explicit CrcRanges(std::string_view bytes) : bytes_(bytes) {
    prefixes_.reserve(bytes.size() / block + 1);
    std::uint32_t crc = 0;
    for (std::size_t at = 0; at < bytes.size(); at += block) {
      prefixes_.push_back(crc);
      crc = format::crc32c(bytes.data() + at, bytes.substr(at, block).size(), crc);
    }
    prefixes_.push_back(crc);
  }

  // Of the bytes from `begin` to before `end`, which lie inside.
  std::uint32_t of(std::size_t begin, std::size_t end) const {
    // crc(AB) = crc(A) * x^(8 |B|) + crc(B), over GF(2).
    return prefix(end) ^ times(power(end - begin), prefix(begin));
  }

 private:
  static constexpr std::size_t block = 1024;
  static constexpr std::uint32_t one = 1U << 31;  // bits are reflected

  // Product of polynomials modulo that of CRC-32C.
  static constexpr std::uint32_t times(std::uint32_t a, std::uint32_t b) {
    std::uint32_t product = 0;
    for (std::uint32_t bit = one; bit != 0; bit >>= 1) {
      if ((a & bit) != 0) product ^= b;
      b = (b >> 1) ^ ((b & 1) != 0 ? 0x82f63b78U : 0U);
    }
    return product;
  }
  // x^(8 bytes)
  static std::uint32_t power(std::uint64_t bytes) {
    static constexpr auto squares = [] {
      std::array<std::uint32_t, 64> of{one >> 8};
      for (std::size_t i = 1; i < of.size(); ++i) of[i] = times(of[i - 1], of[i - 1]);
      return of;
    }();
    std::uint32_t product = one;
    for (std::size_t i = 0; bytes != 0; ++i, bytes >>= 1)
      if ((bytes & 1) != 0) product = times(squares[i], product);
    return product;
  }

  std::uint32_t prefix(std::size_t size) const {
    const std::size_t whole = size / block * block;
    return format::crc32c(bytes_.data() + whole, size - whole, prefixes_[size / block]);
  }

  std::string_view bytes_;
  std::vector<std::uint32_t> prefixes_;  // of the bytes before each block
};

}  // namespace tare::reader

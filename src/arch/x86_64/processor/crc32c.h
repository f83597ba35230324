// CRC-32C by the processor's own instruction.
#pragma once

#include <nmmintrin.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tare::processor {

inline bool has_crc32c() noexcept { return __builtin_cpu_supports("sse4.2") != 0; }

// Continues `crc` over `n` bytes. Only where has_crc32c().
[[gnu::target("sse4.2")]] inline std::uint32_t crc32c(const unsigned char* p, std::size_t n,
                                                      std::uint32_t crc) noexcept {
  std::uint64_t wide = crc;
  for (; n >= 8; n -= 8, p += 8) {
    std::uint64_t word;
    std::memcpy(&word, p, 8);
    wide = _mm_crc32_u64(wide, word);
  }
  crc = static_cast<std::uint32_t>(wide);
  for (; n != 0; --n, ++p) crc = _mm_crc32_u8(crc, *p);
  return crc;
}

}  // namespace tare::processor

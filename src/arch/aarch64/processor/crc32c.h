// CRC-32C by the processor's own instruction.
#pragma once

#include <arm_acle.h>
#include <sys/auxv.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tare::processor {

inline bool has_crc32c() noexcept { return (getauxval(AT_HWCAP) & (1UL << 7)) != 0; }  // HWCAP_CRC32

// Continues `crc` over `n` bytes. Only where has_crc32c().
[[gnu::target("+crc")]] inline std::uint32_t crc32c(const unsigned char* p, std::size_t n, std::uint32_t crc) noexcept {
  for (; n >= 8; n -= 8, p += 8) {
    std::uint64_t word;
    std::memcpy(&word, p, 8);
    crc = __crc32cd(crc, word);
  }
  for (; n != 0; --n, ++p) crc = __crc32cb(crc, *p);
  return crc;
}

}  // namespace tare::processor

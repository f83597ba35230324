#include "format/chunk.h"

#include <array>
#include <cstring>

#if defined(__x86_64__)
#  include <nmmintrin.h>
#elif defined(__aarch64__)
#  include <arm_acle.h>
#  include <sys/auxv.h>
#endif

namespace tare::format {
namespace {

constexpr std::array<std::uint32_t, 256> make_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) ? 0x82f63b78U : 0U);
    table[i] = crc;
  }
  return table;
}
constexpr auto table = make_table();

std::uint32_t crc_portable(const unsigned char* p, std::size_t n, std::uint32_t crc) noexcept {
  for (; n != 0; --n, ++p) crc = table[(crc ^ *p) & 0xff] ^ (crc >> 8);
  return crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) std::uint32_t crc_hardware(const unsigned char* p, std::size_t n,
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
bool has_hardware() noexcept { return __builtin_cpu_supports("sse4.2"); }
#elif defined(__aarch64__)
__attribute__((target("+crc"))) std::uint32_t crc_hardware(const unsigned char* p, std::size_t n,
                                                           std::uint32_t crc) noexcept {
  for (; n >= 8; n -= 8, p += 8) {
    std::uint64_t word;
    std::memcpy(&word, p, 8);
    crc = __crc32cd(crc, word);
  }
  for (; n != 0; --n, ++p) crc = __crc32cb(crc, *p);
  return crc;
}
bool has_hardware() noexcept { return (getauxval(AT_HWCAP) & (1UL << 7)) != 0; }  // HWCAP_CRC32
#else
std::uint32_t crc_hardware(const unsigned char* p, std::size_t n, std::uint32_t crc) noexcept {
  return crc_portable(p, n, crc);
}
bool has_hardware() noexcept { return false; }
#endif

}  // namespace

std::uint32_t crc32c(const void* data, std::size_t bytes, std::uint32_t crc) noexcept {
  const auto* p = static_cast<const unsigned char*>(data);
  crc = ~crc;
  crc = has_hardware() ? crc_hardware(p, bytes, crc) : crc_portable(p, bytes, crc);
  return ~crc;
}

void seal(ChunkHeader& header, const void* payload) noexcept {
  header.magic = chunk_magic;
  header.version = format_version;
  header.payload_crc = crc32c(payload, header.stored_bytes);
  header.header_crc = crc32c(&header, offsetof(ChunkHeader, header_crc));
}

bool is_chunk_header(const void* header) noexcept {
  ChunkHeader copy;
  std::memcpy(&copy, header, sizeof copy);
  return copy.magic == chunk_magic && copy.header_crc == crc32c(&copy, offsetof(ChunkHeader, header_crc));
}

}  // namespace tare::format

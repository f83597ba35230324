#include "format/chunk.h"

#include <array>
#include <cstring>

#include "processor/crc32c.h"

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

}  // namespace

std::uint32_t crc32c(const void* data, std::size_t bytes, std::uint32_t crc) noexcept {
  const auto* p = static_cast<const unsigned char*>(data);
  crc = ~crc;
  crc = processor::has_crc32c() ? processor::crc32c(p, bytes, crc) : crc_portable(p, bytes, crc);
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

#include "format/chunk.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace tare::format {
namespace {

// Check values of the CRC catalogue and of RFC 3720, appendix B.4.
TEST(Crc32c, KnownValues) {
  EXPECT_EQ(crc32c("123456789", 9), 0xe3069283U);
  const std::string zeros(32, '\0');
  EXPECT_EQ(crc32c(zeros.data(), 32), 0x8a9136aaU);
  const std::string ones(32, '\xff');
  EXPECT_EQ(crc32c(ones.data(), 32), 0x62a8ab43U);
}

TEST(Crc32c, IsTheSameInParts) {
  const char text[] = "events, rows and definitions";
  const std::uint32_t head = crc32c(text, 11);
  EXPECT_EQ(crc32c(text + 11, sizeof text - 11, head), crc32c(text, sizeof text));
}

TEST(ChunkHeader, EveryFlippedBitIsSeen) {
  ChunkHeader header{};
  header.type = ChunkType::events;
  header.stored_bytes = 5;
  seal(header, "abcde");
  ASSERT_TRUE(is_chunk_header(&header));
  char bytes[sizeof header];
  for (unsigned bit = 0; bit < 8 * sizeof header; ++bit) {
    std::memcpy(bytes, &header, sizeof header);
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_FALSE(is_chunk_header(bytes)) << "bit " << bit;
  }
}

}  // namespace
}  // namespace tare::format

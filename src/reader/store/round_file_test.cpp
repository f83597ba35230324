#include "reader/store/round_file.h"

#include <gtest/gtest.h>

#include "format/chunk_writer.h"
#include "reader/testing/synthetic.h"

namespace tare::reader {
namespace {

using namespace synthetic;

constexpr std::size_t large = 40 << 20;

// A chunk of zeros, a few KiB on disk.
std::string large_chunk() {
  const std::string zeros(large, '\0');
  std::vector<std::uint64_t> scratch(format::chunk_context_bytes() / 8 + 1);
  std::string made(format::chunk_bound(large), '\0');
  format::ChunkHeader identity{};
  identity.type = format::ChunkType::rounds;
  made.resize(format::make_chunk(identity, zeros.data(), zeros.size(), made.data(), scratch.data()));
  return made;
}

TEST(RoundFile, ASmallFileTakesNoMoreMemoryThanALargeOne) {
  constexpr std::size_t count = 8;
  const TempDir dir;
  const std::string chunk = large_chunk();
  ASSERT_LT(chunk.size(), 1U << 20);
  std::string file;
  for (std::size_t i = 0; i < count; ++i) file += chunk;
  write_file(dir.path("rounds"), file);
  RoundFile rounds(dir.path("rounds"));
  std::size_t read = 0;
  for (bool is_all = false; !is_all;) {
    const auto found = rounds.read();
    ASSERT_TRUE(found) << found.error();
    ASSERT_FALSE(found->payloads.empty());
    EXPECT_LE(found->payloads.size(), 3U);
    read += found->payloads.size();
    is_all = found->is_all;
  }
  EXPECT_EQ(read, count);
}

}  // namespace
}  // namespace tare::reader

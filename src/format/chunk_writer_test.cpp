#include "format/chunk_writer.h"

#include <gtest/gtest.h>
#include <zstd.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace tare::format {
namespace {

std::string random_bytes(std::size_t count, unsigned below = 256) {
  std::mt19937 random(1);
  std::string bytes(count, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random() % below);
  return bytes;
}

struct Chunk {
  ChunkHeader header;
  std::string stored;

  // The payload, as a reader gets it.
  std::string payload() const {
    if (header.compression == Compression::none) return stored;
    std::string raw(header.raw_bytes, '\0');
    const std::size_t bytes = ZSTD_decompress(raw.data(), raw.size(), stored.data(), stored.size());
    EXPECT_EQ(bytes, raw.size());
    return raw;
  }
};

Chunk written(const std::string& raw, const std::string& dense, bool compresses = true, Effort effort = Effort::usual) {
  std::vector<std::uint64_t> scratch(chunk_context_bytes() / 8 + 1);
  ZSTD_CCtx_s* context = compresses ? make_chunk_context(scratch.data()) : nullptr;
  EXPECT_EQ(context != nullptr, compresses);
  const std::size_t most = sizeof(ChunkHeader) + chunk_payload_bound(raw.size(), dense.size());
  std::string out(most, '\0');
  ChunkHeader identity{};
  identity.type = ChunkType::events;
  const std::size_t size =
      write_chunk(context, effort, identity, {raw.data(), raw.size()}, {dense.data(), dense.size()}, out.data());
  EXPECT_LE(size, most);
  Chunk chunk;
  std::memcpy(&chunk.header, out.data(), sizeof chunk.header);
  chunk.stored = out.substr(sizeof chunk.header, size - sizeof chunk.header);
  EXPECT_EQ(chunk.header.stored_bytes, chunk.stored.size());
  EXPECT_EQ(chunk.header.raw_bytes, raw.size() + dense.size());
  EXPECT_EQ(chunk.payload(), raw + dense);
  return chunk;
}

TEST(ChunkWriter, WhatCompressesIsStoredCompressed) {
  const Chunk chunk = written(std::string(100'000, 'a'), "");
  EXPECT_EQ(chunk.header.compression, Compression::zstd);
  EXPECT_LT(chunk.stored.size(), 100U);
}

TEST(ChunkWriter, WhatDoesNotIsStoredAsItIs) {
  EXPECT_EQ(written(random_bytes(100'000), "").header.compression, Compression::none);
  EXPECT_EQ(written(random_bytes(1000), random_bytes(1000)).header.compression, Compression::none);
  EXPECT_EQ(written("", "").stored, "");
}

TEST(ChunkWriter, WithoutAContextAllIsStoredAsItIs) {
  EXPECT_EQ(written(std::string(1000, 'a'), "dense", false).header.compression, Compression::none);
}

// Also where it needs several blocks of a frame.
TEST(ChunkWriter, DenseBytesAreAFrameOfTheirOwn) {
  for (const std::size_t bytes : {1U, 131'071U, 131'072U, 131'073U, 300'000U}) {
    const Chunk chunk = written(std::string(100'000, 'a'), random_bytes(bytes));
    EXPECT_EQ(chunk.header.compression, Compression::zstd);
    EXPECT_LT(chunk.stored.size(), 100 + bytes + 9 + 3 * 3);
  }
}

TEST(ChunkWriter, LittleEffortHasNoHuffmanCodes) {
  const std::string few_letters = random_bytes(10'000, 16);
  const Chunk usual = written(few_letters, ""), little = written(few_letters, "", true, Effort::little);
  EXPECT_EQ(usual.header.compression, Compression::zstd);
  EXPECT_NEAR(static_cast<double>(usual.stored.size()), 5000, 200) << "of 4 bits each";
  EXPECT_GT(little.stored.size(), 9000U);
}

}  // namespace
}  // namespace tare::format

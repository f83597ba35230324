#include "reader/store/chunk_scan.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "reader/store/crc_ranges.h"
#include "reader/testing/synthetic.h"

namespace tare::reader {
namespace {

using namespace synthetic;
using format::ChunkHeader;
using format::ChunkType;

const format::ProcessRecord& process() {
  static const auto record = process_record(0, format::ProcessState::exited);
  return record;
}

std::string some_events(std::uint32_t sequence) {
  return events_chunk(process(), 0, sequence, bytes_of(call_record("MPI_Send", 1, 3000, 3100)));
}

std::string file_of_three() { return some_events(0) + process_chunk(process()) + some_events(1); }

std::size_t whole_chunks(std::string_view bytes) {
  const auto scan = scan_chunks(bytes, "f");
  EXPECT_TRUE(scan) << scan.error();
  std::size_t whole = 0;
  std::vector<char> raw;
  std::string error;
  for (const ChunkRef& chunk : scan->chunks) whole += load_chunk(chunk, raw, error);
  return whole;
}

TEST(ChunkScan, FindsTheChunksOfAWholeFile) {
  const std::string file = file_of_three();
  const auto scan = scan_chunks(file, "f");
  ASSERT_TRUE(scan);
  EXPECT_TRUE(scan->warnings.empty());
  ASSERT_EQ(scan->chunks.size(), 3U);
  EXPECT_EQ(scan->chunks[0].header.type, ChunkType::events);
  EXPECT_EQ(scan->chunks[1].header.type, ChunkType::process);
  EXPECT_EQ(scan->chunks[2].header.sequence, 1U);
}

TEST(ChunkScan, AnEmptyFileIsSaidToBeEmpty) {
  EXPECT_EQ(scan_chunks({}, "f")->warnings, std::vector<std::string>{"f is empty"});
}

TEST(ChunkScan, AFileCutOffAnywhereIsReadableUpToItsLastWholeChunk) {
  const std::string file = file_of_three();
  const std::size_t first = some_events(0).size();
  const std::size_t second = first + process_chunk(process()).size();
  for (std::size_t bytes = 0; bytes <= file.size(); ++bytes) {
    const std::size_t expected = bytes < first ? 0 : bytes < second ? 1 : bytes < file.size() ? 2 : 3;
    // AddressSanitizer detects reads past the end of a heap block of this size.
    const std::vector<char> cut(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(bytes));
    EXPECT_EQ(whole_chunks({cut.data(), cut.size()}), expected) << bytes;
  }
}

TEST(ChunkScan, ATornChunkInTheMiddleCostsOnlyItself) {
  const std::string torn = some_events(0);
  for (std::size_t bytes = 1; bytes < torn.size(); ++bytes) {
    const std::string file = process_chunk(process()) + torn.substr(0, bytes) + file_of_three();
    EXPECT_EQ(whole_chunks(file), 4U) << bytes;
    const auto scan = scan_chunks(file, "f");
    ASSERT_EQ(scan->warnings.size(), 1U) << bytes;
    EXPECT_EQ(scan->warnings[0], "f: " + std::to_string(bytes) + " bytes at offset " +
                                     std::to_string(process_chunk(process()).size()) +
                                     " are not a whole chunk and were skipped");
  }
}

TEST(ChunkScan, AFlippedByteCostsOneChunk) {
  const std::string whole = file_of_three();
  const std::size_t version_at = offsetof(ChunkHeader, version);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string file = whole;
    file[at] = static_cast<char>(file[at] ^ 0x5a);
    EXPECT_EQ(whole_chunks(file), 2U) << at << " " << version_at;
  }
}

// Each claims all that follows: with a pass over that for each, half an hour.
TEST(ChunkScan, HeadersThatOverlapTakeNoLonger) {
  constexpr std::size_t size = 32 << 20;
  std::string file(size, 'x');
  ChunkHeader header{};
  header.magic = format::chunk_magic;
  header.version = format::format_version;
  header.type = ChunkType::definitions;
  for (std::size_t at = 0; at + sizeof header <= size; at += sizeof header) {
    header.stored_bytes = static_cast<std::uint32_t>(size - at - sizeof header);
    header.payload_crc = 0x12345678;
    header.header_crc = format::crc32c(&header, offsetof(ChunkHeader, header_crc));
    std::memcpy(&file[at], &header, sizeof header);
  }
  file += file_of_three();
  const auto scan = scan_chunks(file, "f");
  ASSERT_TRUE(scan);
  EXPECT_EQ(scan->chunks.size(), 3U);
  EXPECT_EQ(scan->warnings.size(), 1U);
}

TEST(ChunkScan, AChecksumOfAPartIsThatOfItsBytes) {
  std::mt19937 random(1);
  for (const std::size_t size : {0U, 1U, 1023U, 1024U, 1025U, 5000U}) {
    std::string bytes(size, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    const CrcRanges ranges(bytes);
    for (int i = 0; i < 200; ++i) {
      std::size_t begin = random() % (size + 1), end = random() % (size + 1);
      if (begin > end) std::swap(begin, end);
      EXPECT_EQ(ranges.of(begin, end), format::crc32c(bytes.data() + begin, end - begin)) << begin << " " << end;
    }
  }
}

TEST(ChunkScan, NamesAVersionItDoesNotKnow) {
  std::string file = file_of_three();
  ChunkHeader header;
  std::memcpy(&header, file.data(), sizeof header);
  header.version = 7;
  header.header_crc = format::crc32c(&header, offsetof(ChunkHeader, header_crc));
  std::memcpy(file.data(), &header, sizeof header);
  const auto scan = scan_chunks(file, "node1.tare");
  ASSERT_FALSE(scan);
  EXPECT_NE(scan.error().find("node1.tare has format version 7"), std::string::npos) << scan.error();
}

TEST(ChunkScan, WhatIsNoTareFileHasNoChunks) {
  const std::string text(100'000, 'T');
  const auto scan = scan_chunks(text, "f");
  ASSERT_TRUE(scan);
  EXPECT_TRUE(scan->chunks.empty());
  EXPECT_EQ(scan->warnings.size(), 1U);
}

}  // namespace
}  // namespace tare::reader

#include "reader/store/archive.h"

#include <gtest/gtest.h>

#include <cstring>

#include "reader/run/run.h"
#include "reader/testing/synthetic.h"

namespace tare::reader {
namespace {

using namespace synthetic;
using format::ChunkHeader;
using format::MemberKind;

void ignore(std::uint64_t /*bytes*/) {}

std::string node_file() {
  const auto process = process_record(1, format::ProcessState::exited);
  return functions_chunk() + process_chunk(process) +
         events_chunk(process, 0, 0, bytes_of(call_record("MPI_Send", 1, 3000, 3100))) +
         events_chunk(process, 0, 1, bytes_of(call_record("MPI_Recv", 1, 4000, 4100)));
}

std::size_t events_of(const Result<Run>& run) {
  std::size_t events = 0;
  for (const Process& process : run->processes()) events += process.events.size();
  return events;
}

class Archive : public ::testing::Test {
 protected:
  Archive() {
    dir_.write("meta.json", "{}\n");
    dir_.write("node.tare", node_file());
    dir_.write("single.tare", node_file());
    auto writer = ArchiveWriter::create(path());
    EXPECT_TRUE(writer) << writer.error();
    for (const char* name : {"meta.json", "node.tare"})
      EXPECT_FALSE(writer->add("run", MemberKind::run, name, {dir_.path(name), 0, {}, {}}, ignore));
    EXPECT_FALSE(writer->add("single.tare", MemberKind::file, "", {dir_.path("single.tare"), 0, {}, {}}, ignore));
    EXPECT_FALSE(writer->finish());
    bytes_ = dir_.read("archive");
  }

  std::string path() const { return dir_.path("archive"); }

  TempDir dir_;
  std::string bytes_;
};

TEST_F(Archive, HoldsTheFilesAsTheyWere) {
  const auto index = ArchiveIndex::open(path());
  ASSERT_TRUE(index) << index.error();
  EXPECT_TRUE(index->warnings.empty());
  ASSERT_EQ(index->files.size(), 3U);
  EXPECT_EQ(index->files[1].member, "run");
  EXPECT_EQ(index->files[1].name, "node.tare");
  EXPECT_EQ(index->files[2].kind, MemberKind::file);
  for (const ArchivedFile& file : index->files) {
    const std::string name = file.name.empty() ? file.member : file.name;
    EXPECT_EQ(bytes_.substr(file.offset, file.size), dir_.read(name));
    EXPECT_FALSE(extract({path(), file.offset, file.size, file.crc}, dir_.path(name + ".out"), ignore));
    EXPECT_EQ(dir_.read(name + ".out"), dir_.read(name));
  }
}

TEST_F(Archive, IsToldFromANodeFile) {
  EXPECT_TRUE(is_archive_file(path()));
  EXPECT_FALSE(is_archive_file(dir_.path("node.tare")));
  EXPECT_FALSE(is_archive_file(dir_.path("meta.json")));
  EXPECT_FALSE(is_archive_file(dir_.path("missing")));
}

TEST_F(Archive, ARunInItReadsLikeItsDirectory) {
  const auto run = Run::open({path(), "", "", "run"});
  ASSERT_TRUE(run) << run.error();
  EXPECT_TRUE(run->warnings().empty());
  EXPECT_EQ(events_of(run), 2U);
}

TEST_F(Archive, IsNoPartOfTheRunInWhoseDirectoryItLies) {
  dir_.write("other.tare", bytes_);
  const auto run = Run::open({dir_.path(), "", "", ""});
  ASSERT_TRUE(run) << run.error();
  ASSERT_EQ(run->warnings().size(), 1U);
  EXPECT_NE(run->warnings()[0].find("other.tare is an archive"), std::string::npos);
}

TEST_F(Archive, CutOffAnywhereIsReadableUpToTheLastWholeChunk) {
  const auto whole = ArchiveIndex::of_memory(bytes_, "a");
  std::vector<std::size_t> ends;  // where each of the three files ends
  for (const ArchivedFile& file : whole->files) ends.push_back(file.offset + file.size);
  const std::size_t first_event_ends = ends[1] - events_chunk(process_record(1, format::ProcessState::exited), 0, 1,
                                                              bytes_of(call_record("MPI_Recv", 1, 4000, 4100)))
                                                     .size();
  for (std::size_t bytes = 0; bytes < bytes_.size(); ++bytes) {
    const std::vector<char> cut(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(bytes));
    const auto index = ArchiveIndex::of_memory({cut.data(), cut.size()}, "a");
    ASSERT_TRUE(index);
    EXPECT_FALSE(index->warnings.empty()) << bytes;
    std::size_t complete = 0;
    for (const ArchivedFile& file : index->files) complete += file.present == file.size;
    EXPECT_EQ(complete, std::size_t(bytes >= ends[0]) + (bytes >= ends[1]) + (bytes >= ends[2])) << bytes;
    if (bytes < first_event_ends || (bytes % 97 != 0 && bytes != ends[1])) continue;
    dir_.write("cut", {cut.data(), cut.size()});
    const auto run = Run::open({dir_.path("cut"), "", "", "run"});
    ASSERT_TRUE(run);
    EXPECT_EQ(events_of(run), bytes < ends[1] ? 1U : 2U) << bytes;
  }
}

TEST_F(Archive, AFlippedByteIsFound) {
  const auto whole = ArchiveIndex::of_memory(bytes_, "a");
  for (std::size_t at = 0; at < bytes_.size(); ++at) {
    std::string flipped = bytes_;
    flipped[at] = static_cast<char>(flipped[at] ^ 0x5a);
    const auto index = ArchiveIndex::of_memory(flipped, "a");
    ASSERT_TRUE(index);
    std::size_t right = 0;
    for (const ArchivedFile& file : index->files) {
      const auto contents = std::string_view(flipped).substr(file.offset, file.present);
      right += format::crc32c(contents.data(), contents.size()) == file.crc;
    }
    EXPECT_TRUE(!index->warnings.empty() || right == 2) << at;
    EXPECT_GE(right, 2U) << at;
  }
}

TEST_F(Archive, ExtractFindsAWrongChecksum) {
  const auto index = ArchiveIndex::open(path());
  const ArchivedFile& file = index->files[1];
  const auto failure = extract({path(), file.offset, file.size, file.crc + 1}, dir_.path("out"), ignore);
  ASSERT_TRUE(failure);
  EXPECT_NE(failure->message.find("wrong checksum"), std::string::npos) << failure->message;
}

TEST_F(Archive, NamesThatLeadOutsideAreRefused) {
  for (const char* member : {"", ".", "..", "a/b", "/etc"})
    for (const char* name : {"f", "../f", "/f", "a/../f", "a//f", ""}) {
      if (*member == '\0' && *name == '\0') continue;
      const std::string at = dir_.path("bad");
      std::remove(at.c_str());
      auto writer = ArchiveWriter::create(at);
      ASSERT_TRUE(writer);
      EXPECT_FALSE(writer->add(member, MemberKind::run, name, {dir_.path("meta.json"), 0, {}, {}}, ignore));
      EXPECT_FALSE(writer->finish());
      const auto index = ArchiveIndex::open(at);
      ASSERT_TRUE(index);
      EXPECT_TRUE(index->files.empty()) << member << " " << name;
      EXPECT_EQ(index->warnings.size(), 1U);
    }
}

TEST_F(Archive, NamesAVersionItDoesNotKnow) {
  ChunkHeader header;
  std::memcpy(&header, bytes_.data(), sizeof header);
  header.version = 7;
  header.header_crc = format::crc32c(&header, offsetof(ChunkHeader, header_crc));
  std::memcpy(bytes_.data(), &header, sizeof header);
  EXPECT_TRUE(is_archive(bytes_));
  const auto index = ArchiveIndex::of_memory(bytes_, "a.tare");
  ASSERT_FALSE(index);
  EXPECT_NE(index.error().find("a.tare has format version 7"), std::string::npos) << index.error();
}

}  // namespace
}  // namespace tare::reader

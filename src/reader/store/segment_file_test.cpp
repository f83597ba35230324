#include "reader/store/segment_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "reader/run/run.h"
#include "reader/testing/synthetic.h"

namespace tare::reader {
namespace {

using namespace synthetic;
using format::ProcessState;

TEST(SegmentFile, ListsTheSegmentsOfOneRun) {
  const TempDir dir;
  dir.write("tare-0123456789abcdef-77-1", "");
  dir.write("tare-0123456789abcdef-8-0", "");
  dir.write("tare-ffffffffffffffff-9-0", "");
  dir.write("tare-0123456789abcdef-nopid-0", "");
  const auto segments = list_segments(dir.path(), run_id, Owners(dir.path())).names;
  ASSERT_EQ(segments.size(), 2U);
  EXPECT_EQ(segments[0].pid, 77U);
  EXPECT_EQ(segments[1].file, "tare-0123456789abcdef-8-0");
  EXPECT_TRUE(list_segments(dir.path("nothing"), run_id, Owners(dir.path())).names.empty());
}

TEST(SegmentFile, ReadsWhatIsInUse) {
  const TempDir dir;
  Segment segment(dir, process_record(1, ProcessState::running));
  segment.add_location();
  segment.add_row(0, profile_row("MPI_Send", 3, 4, 400, 64));
  segment.location(0).lookups[function_number("MPI_Comm_rank")] = 9;
  segment.add_record(0, bytes_of(call_record("MPI_Send", 3, 3000, 3100)));
  const auto names = list_segments(dir.path(), run_id, Owners(dir.path())).names;
  ASSERT_EQ(names.size(), 1U);
  const auto file = SegmentFile::open(dir.path(), names[0], Owners(dir.path()));
  ASSERT_TRUE(file) << file.error();
  ASSERT_TRUE(file->is_initialised());
  EXPECT_EQ(file->process()->rank, 1);
  EXPECT_EQ(*file->locations(), 1U);
  const auto location = file->location(0);
  ASSERT_TRUE(location);
  ASSERT_EQ(location->rows.size(), 2U);
  EXPECT_EQ(location->rows[1].calls, 4U);
  EXPECT_EQ(location->lookups[function_number("MPI_Comm_rank")], 9U);
  EXPECT_EQ(file->buffer(0)->parts.at(0).records.size(), sizeof(format::CallRecord));
  EXPECT_FALSE(file->location(4));
}

TEST(SegmentFile, ReadsTheRequestsUnderWay) {
  const TempDir dir;
  Segment segment(dir, process_record(1, ProcessState::running));
  format::RequestEntry request{};
  request.handle = 0x1234;
  request.peer = 3;
  request.kind = format::receive_request;
  segment.add_request(request);
  segment.add_request({});  // one that has completed
  request.peer = 5;
  segment.add_request(request);
  const auto file =
      SegmentFile::open(dir.path(), list_segments(dir.path(), run_id, Owners(dir.path())).names[0], Owners(dir.path()));
  ASSERT_TRUE(file) << file.error();
  const auto requests = file->requests();
  ASSERT_TRUE(requests) << requests.error();
  ASSERT_EQ(requests->size(), 2U);
  EXPECT_EQ((*requests)[0].peer, 3);
  EXPECT_EQ((*requests)[1].peer, 5);
  EXPECT_TRUE((*requests)[1].receives());
  segment.header().requests_at = std::uint64_t{1} << 40;
  EXPECT_FALSE(SegmentFile::open(dir.path(), list_segments(dir.path(), run_id, Owners(dir.path())).names[0],
                                 Owners(dir.path())));
}

std::vector<std::size_t> calls_in_parts(const BufferCopy& buffer) {
  std::vector<std::size_t> calls;
  for (const BufferCopy::Part& part : buffer.parts) calls.push_back(part.records.size() / sizeof(format::CallRecord));
  return calls;
}

TEST(SegmentFile, ReadsTheRingFromItsOldestSubBufferOn) {
  const TempDir dir;
  constexpr std::uint64_t calls_each = 4;
  Segment segment(dir, process_record(1, ProcessState::running), 2 * calls_each * sizeof(format::CallRecord));
  segment.add_location();
  const auto file = SegmentFile::open(dir.path(), list_segments(dir.path(), run_id, Owners(dir.path())).names.at(0),
                                      Owners(dir.path()));
  ASSERT_TRUE(file) << file.error();
  const auto parts = [&] {
    const auto buffer = file->buffer(0);
    EXPECT_TRUE(buffer) << buffer.error();
    return calls_in_parts(*buffer);
  };
  const auto add = [&](int calls) {
    for (int i = 0; i < calls; ++i) segment.add_record(0, bytes_of(call_record("MPI_Send", 3, 3000, 3100)));
  };
  using Parts = std::vector<std::size_t>;
  EXPECT_EQ(parts(), Parts{0});
  add(calls_each);
  EXPECT_EQ(parts(), Parts{4}) << "full to its end, and nothing opened behind it";
  add(3);
  EXPECT_EQ(parts(), (Parts{4, 3}));
  segment.set_drained(0, {1, 5});
  EXPECT_EQ(parts(), Parts{3});
  EXPECT_EQ(file->buffer(0)->sequence, 5U);
  segment.next_sub_buffer(0, 7);  // the previous sub-buffer is not full, because its thread ended
  add(2);
  EXPECT_EQ(parts(), (Parts{3, 2})) << "around the end of the ring";
  EXPECT_EQ(file->buffer(0)->parts[1].thread, 7U);
  segment.set_drained(0, {3, 9});
  EXPECT_EQ(parts(), Parts{}) << "drained, and not yet opened anew";
  segment.set_drained(0, {0, 0});
  EXPECT_FALSE(file->buffer(0)) << "three in a ring of two";
}

TEST(SegmentFile, AnEmptyOneIsNotInitialised) {
  const TempDir dir;
  dir.write("tare-0123456789abcdef-77-1", "");
  const auto file = SegmentFile::open(dir.path(), {"tare-0123456789abcdef-77-1", 77}, Owners(dir.path()));
  ASSERT_TRUE(file);
  EXPECT_FALSE(file->is_initialised());
}

TEST(SegmentFile, AnotherLayoutIsNamed) {
  const TempDir dir;
  Segment segment(dir, process_record(0, ProcessState::running));
  segment.header().layout = 99;
  const auto file = SegmentFile::open(dir.path(), {segment.name(), 1}, Owners(dir.path()));
  ASSERT_FALSE(file);
  EXPECT_NE(file.error().find("layout 99"), std::string::npos) << file.error();
}

// For any contents of the header, the reader stays within the file and allocates no huge memory.
TEST(SegmentFile, DamagedHeadersAreSurvived) {
  const TempDir dir;
  Segment segment(dir, process_record(0, ProcessState::running));
  segment.add_location();
  segment.add_row(0, profile_row("MPI_Send", 3, 4, 400, 64));
  segment.add_record(0, bytes_of(call_record("MPI_Send", 3, 3000, 3100)));
  segment.define(module_definition(1, "/bin/app") + site_definition(3, 1, 0x400));
  auto* bytes = reinterpret_cast<unsigned char*>(&segment.header());
  auto* location = reinterpret_cast<unsigned char*>(&segment.location(0));
  const auto open_all = [&] { return bool(Run::open({dir.path(), dir.path(), run_id})); };
  for (const unsigned value : {0x00U, 0x01U, 0x7fU, 0xffU}) {
    for (std::size_t at = 0; at < offsetof(format::SegmentHeader, process) + 64; ++at) {
      const unsigned char before = std::exchange(bytes[at], static_cast<unsigned char>(value));
      EXPECT_TRUE(open_all()) << at;
      bytes[at] = before;
    }
    for (std::size_t at = 0; at < 256; ++at) {
      const unsigned char before = std::exchange(location[at], static_cast<unsigned char>(value));
      EXPECT_TRUE(open_all()) << at;
      location[at] = before;
    }
  }
}

// Changes that another process makes after the header was read have no effect.
TEST(SegmentFile, TheHeaderIsReadOnce) {
  const TempDir dir;
  Segment segment(dir, process_record(0, ProcessState::running));
  segment.add_location();
  segment.add_record(0, bytes_of(call_record("MPI_Send", 3, 3000, 3100)));
  const auto file = SegmentFile::open(dir.path(), {segment.name(), 1}, Owners(dir.path()));
  ASSERT_TRUE(file) << file.error();
  segment.header().ring.bytes = UINT32_MAX - 7;
  segment.header().ring.count = UINT32_MAX;
  segment.header().location_stride = 1;
  segment.header().row_capacity = UINT32_MAX;
  segment.header().definitions_capacity = ~std::uint64_t{0};
  segment.header().definitions_bytes = ~std::uint64_t{0};
  ASSERT_TRUE(file->buffer(0));
  EXPECT_EQ(file->buffer(0)->parts.at(0).records.size(), sizeof(format::CallRecord));
  EXPECT_TRUE(file->location(0));
  EXPECT_TRUE(file->definitions());
  EXPECT_FALSE(SegmentFile::open(dir.path(), {segment.name(), 1}, Owners(dir.path())));
}

TEST(SegmentFile, LinksAndPipesAreNoSegments) {
  const TempDir dir;
  Segment segment(dir, process_record(0, ProcessState::running));
  ASSERT_EQ(::symlink(dir.path(segment.name()).c_str(), dir.path("tare-0123456789abcdef-2-0").c_str()), 0);
  ASSERT_EQ(::mkfifo(dir.path("tare-0123456789abcdef-3-0").c_str(), 0600), 0);
  for (const char* name : {"tare-0123456789abcdef-2-0", "tare-0123456789abcdef-3-0"})
    EXPECT_FALSE(SegmentFile::open(dir.path(), {name, 2}, Owners(dir.path()))) << name;
}

TEST(SegmentFile, SomebodyElsesIsLeftAlone) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  const TempDir dir;
  const TempDir run;
  Segment segment(dir, process_record(0, ProcessState::running));
  constexpr uid_t somebody = 12345;
  ASSERT_EQ(::chown(dir.path(segment.name()).c_str(), somebody, somebody), 0);
  EXPECT_FALSE(SegmentFile::open(dir.path(), {segment.name(), 1}, Owners(run.path())));
  ASSERT_EQ(::chown(run.path().c_str(), somebody, somebody), 0);
  EXPECT_TRUE(SegmentFile::open(dir.path(), {segment.name(), 1}, Owners(run.path()))) << "root reads that one's run";
}

}  // namespace
}  // namespace tare::reader

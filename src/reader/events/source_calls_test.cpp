// Calls of another source than MPI, which this build does not know: the file says all that is needed.
#include <gtest/gtest.h>

#include <cstring>

#include "format/functions.h"
#include "reader/events/event_stream.h"
#include "reader/store/function_names.h"
#include "reader/testing/event_lines.h"
#include "reader/testing/synthetic.h"

namespace tare::reader {
namespace {

using namespace synthetic;
using namespace std::string_literals;
using format::ProcessRecord;
using format::SourceCallRecord;

// A u32, and texts that end with a zero byte.
std::string source(std::uint32_t functions, const std::string& texts) { return bytes_of(functions) + texts; }

// The functions of this build, and those of two further sources.
std::string functions_of_writer() {
  return functions_payload() + source(2, "files\0fsync\0\0write\0bytes,offset\0"s) + source(1, "loops\0parallel\0\0"s);
}

class SourceCalls : public ::testing::Test {
 protected:
  SourceCalls() {
    format::ChunkHeader identity{};
    identity.type = format::ChunkType::functions;
    const std::string records = write(2000, 2050, {4096, 8192}) + bytes_of(call_record("MPI_Send", 1, 3000, 3100)) +
                                write(3010, 3020, {8, 0}) + call(fsync_, 4000, 4500, 7, {}) +
                                call(parallel_, 5000, 5100, 0, {});
    format::ProfileRow row = profile_row("MPI_Send", 1, 2, 60, 4104);
    row.function = write_;
    row.communicator = 1;  // of MPI it would be MPI_COMM_WORLD
    const std::string log = site_definition(1, 0, 64) + communicator_definition(1, 2, "MPI_COMM_WORLD");
    dir_.write("n.tare", chunk(identity, functions_of_writer()) + process_chunk(process_) +
                             definitions_chunk(process_, log) + events_chunk(process_, 0, 0, records) +
                             profile_chunk(process_, 0, {row, profile_row("MPI_Send", 1, 1, 100, 8)}));
    auto run = reader::Run::open({dir_.path(), dir_.path(), run_id});
    if (run) run_.emplace(std::move(*run));
  }

  static std::string call(std::uint16_t function, std::uint64_t enter, std::uint64_t leave, std::uint32_t object,
                          const std::vector<std::uint64_t>& arguments) {
    const SourceCallRecord record{
        {format::source_call, static_cast<std::uint16_t>(4 + arguments.size())}, function, enter, leave, 1, object};
    std::string bytes = bytes_of(record);
    for (const std::uint64_t argument : arguments) bytes += bytes_of(argument);
    return bytes;
  }
  std::string write(std::uint64_t enter, std::uint64_t leave, const std::vector<std::uint64_t>& arguments) const {
    return call(write_, enter, leave, 3, arguments);
  }
  std::vector<EventRow> events(const EventFilter& filter = {}) {
    auto stream = EventStream::open(*run_, filter);
    return stream ? stream->next(100) : std::vector<EventRow>{};
  }

  const std::uint16_t fsync_ = format::function_count + 1, write_ = fsync_ + 1, parallel_ = write_ + 1;
  const ProcessRecord process_ = process_record(0, format::ProcessState::exited);
  TempDir dir_;
  std::optional<reader::Run> run_;
};

TEST_F(SourceCalls, AreRowsOfTheirFunctionsWithArguments) {
  ASSERT_TRUE(run_);
  const std::vector<EventRow> rows = events();
  ASSERT_EQ(rows.size(), 5U);
  const EventRow& first = rows[0];
  EXPECT_EQ(first.kind, EventKind::source_call);
  EXPECT_EQ(EventStream::name(*run_, first), "write");
  EXPECT_EQ(run_->functions().source(first.function), "files");
  EXPECT_EQ(run_->functions().arguments(first.function), (std::vector<std::string>{"bytes", "offset"}));
  EXPECT_EQ(first.parameters, (std::vector<std::uint64_t>{4096, 8192}));
  EXPECT_EQ(first.bytes, 4096U);
  EXPECT_EQ(first.duration_ns, 50);
  EXPECT_EQ(first.object, 3U);
  EXPECT_EQ(first.site, 0);
  EXPECT_EQ(first.communicator, -1);
  EXPECT_EQ(rows[1].kind, EventKind::call);
  EXPECT_EQ(rows[2].start_ns, first.start_ns + 1010) << "within the call of MPI";
  EXPECT_EQ(EventStream::name(*run_, rows[3]), "fsync");
  EXPECT_EQ(run_->functions().source(rows[4].function), "loops");
  EXPECT_TRUE(run_->functions().is_of_mpi(rows[1].function));
  EXPECT_FALSE(run_->functions().is_of_mpi(rows[4].function));
  EXPECT_EQ(testing::lines_of_tables(*run_, {}), testing::lines_of(*run_, rows));
}

TEST_F(SourceCalls, AreChosenByName) {
  ASSERT_TRUE(run_);
  EventFilter filter;
  filter.functions = {"fsync", "MPI_Send"};
  const std::vector<EventRow> rows = events(filter);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(EventStream::name(*run_, rows[1]), "fsync");
  EXPECT_EQ(testing::lines_of_tables(*run_, filter), testing::lines_of(*run_, rows));
}

TEST_F(SourceCalls, HaveProfileRowsButNoTimeInMpi) {
  ASSERT_TRUE(run_);
  bool found = false;
  for (const ProfileSum& sum : run_->profile_sums({.function = true, .communicator = true})) {
    if (run_->functions().name(sum.key.function) != "write") continue;
    found = true;
    EXPECT_EQ(sum.calls, 2U);
    EXPECT_EQ(sum.time_ns, 60);
    EXPECT_EQ(sum.bytes, 4104U);
    EXPECT_EQ(sum.key.communicator, -1);
  }
  EXPECT_TRUE(found);
  EXPECT_EQ(run_->totals(0).net_ticks, 100U) << "MPI_Send alone";
  const auto& weighed = run_->totals(0).weighed.calls;
  EXPECT_EQ(weighed[static_cast<unsigned>(format::CallClass::other)], 2U) << "but they cost as well";
  EXPECT_EQ(weighed[static_cast<unsigned>(format::CallClass::send)], 1U);
}

TEST(FunctionNames, OfFormat1AreOfMpi) {
  FunctionNames names;
  const FunctionNames::Map map = names.map_of("MPI_Send\0MPI_From_the_future\0"s, 1);
  ASSERT_EQ(map.size(), 3U);
  EXPECT_EQ(map[1], function_number("MPI_Send"));
  EXPECT_EQ(names.name(map[2]), "MPI_From_the_future");
  EXPECT_TRUE(names.is_of_mpi(map[2]));
}

TEST(FunctionNames, OfDamagedChunksAreThoseThatAreWhole) {
  const std::string whole = functions_of_writer();
  for (const std::size_t size : {std::size_t{0}, std::size_t{3}, std::size_t{4}, whole.size() - 5, whole.size() - 1}) {
    FunctionNames names;
    const FunctionNames::Map map = names.map_of(std::string_view(whole).substr(0, size), 2);
    EXPECT_LE(map.size(), std::size_t{format::function_count} + 4) << size;
  }
  FunctionNames names;
  const FunctionNames::Map map = names.map_of(source(UINT32_MAX, "endless\0one\0\0"s), 2);
  EXPECT_EQ(map.size(), 2U);
}

TEST(FunctionNames, OfTwoSourcesMayBeTheSame) {
  FunctionNames names;
  const FunctionNames::Map map = names.map_of(source(1, "files\0open\0\0"s) + source(1, "doors\0open\0\0"s), 2);
  ASSERT_EQ(map.size(), 3U);
  EXPECT_NE(map[1], map[2]);
  EXPECT_EQ(names.source(map[2]), "doors");
}

}  // namespace
}  // namespace tare::reader

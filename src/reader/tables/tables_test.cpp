#include "reader/tables/tables.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "reader/testing/event_lines.h"
#include "reader/testing/synthetic.h"

namespace tare::reader {
namespace {

using namespace synthetic;
using format::ProcessState;

class Tables : public ::testing::Test {
 protected:
  using Rows = std::vector<std::vector<std::string>>;

  reader::Run open(const std::string& file) {
    dir_.write("n.tare", file);
    auto run = reader::Run::open({dir_.path(), dir_.path(), run_id});
    EXPECT_TRUE(run) << run.error();
    return std::move(*run);
  }
  // The cells of these columns, in this order. Texts are in quotes; "" stands for null.
  static Rows cells(reader::Run& run, const char* table, const std::vector<std::string>& names) {
    auto opened = find_table(table)->open(run);
    EXPECT_TRUE(opened) << opened.error();
    Rows rows;
    std::vector<arrow::Array> columns;
    while (const std::size_t count = opened->next(columns)) {
      for (std::size_t row = 0; row < count; ++row) {
        auto& of_row = rows.emplace_back();
        for (const std::string& name : names)
          for (std::size_t column = 0; column < columns.size(); ++column)
            if (opened->schema[column].name == name)
              of_row.push_back(testing::text_of(opened->schema[column], columns[column], row));
      }
    }
    EXPECT_TRUE(!opened->rows || *opened->rows == rows.size());
    return rows;
  }

  TempDir dir_;
};

TEST_F(Tables, AreListedOnce) {
  std::set<std::string> names;
  for (const TableKind& kind : table_kinds()) {
    EXPECT_TRUE(names.insert(kind.name).second);
    EXPECT_EQ(find_table(kind.name), &kind);
  }
  EXPECT_EQ(find_table("nonsense"), nullptr);
}

TEST_F(Tables, OfNothingHaveColumnsAndNoRows) {
  auto run = reader::Run::of_memory({});
  ASSERT_TRUE(run);
  for (const TableKind& kind : table_kinds()) {
    auto opened = kind.open(*run);
    ASSERT_TRUE(opened) << kind.name << ": " << opened.error();
    EXPECT_FALSE(opened->schema.empty()) << kind.name;
    std::vector<arrow::Array> columns;
    EXPECT_EQ(opened->next(columns), 0U) << kind.name;
  }
}

// The declaration also has the columns that depend on what is asked.
TEST_F(Tables, HaveTheDeclaredColumns) {
  auto run = reader::Run::of_memory({});
  ASSERT_TRUE(run);
  for (const TableKind& kind : table_kinds()) {
    auto opened = kind.open(*run);
    ASSERT_TRUE(opened) << kind.name << ": " << opened.error();
    std::size_t made = 0;
    for (const DeclaredColumn& declared : kind.columns) {
      const bool is_made = made < opened->schema.size() && opened->schema[made].name == declared.name;
      if (is_made) {
        EXPECT_EQ(opened->schema[made].type, declared.type) << kind.name << "." << declared.name;
        ++made;
      }
      const bool is_optional = declared.extra || std::string(kind.name) == "profile";
      EXPECT_TRUE(is_made || is_optional) << kind.name << "." << declared.name;
    }
    EXPECT_EQ(made, opened->schema.size()) << kind.name << ": more columns than are declared";
  }
}

TEST_F(Tables, OfProcessesSayWhatIsNotKnown) {
  format::ProcessRecord ended = process_record(0, ProcessState::exited),
                        killed = process_record(1, ProcessState::running);
  ended.exit_code = 3;
  killed.process += 1;
  killed.exit_code = -9;
  Profile first;
  first.rows = {profile_row("MPI_Send", 1, 10, 1000, 80)};
  Profile second = first;
  second.summary.number = 4;
  reader::Run run = open(functions_chunk() + process_chunk(ended) + process_chunk(killed) +
                         definitions_chunk(killed, thread_definition(4, "pump\xff")) + profile_chunk(ended, 0, first) +
                         profile_chunk(killed, 2, second));
  EXPECT_EQ(cells(run, "ranks", {"rank", "exit_code", "signal", "calls"}),
            (Rows{{"0", "3", "", "10"}, {"1", "", "9", "10"}}));
  EXPECT_EQ(cells(run, "locations", {"rank", "location", "thread", "thread_name"}),
            (Rows{{"0", "0", "0", ""}, {"1", "2", "4", "'pump\\xff'"}}));
}

TEST_F(Tables, OfSumsTellRanksApart) {
  const format::ProcessRecord process = process_record(1, ProcessState::exited);
  Profile profile;
  profile.rows = {profile_row("MPI_Init", 1, 1, 10, 0)};
  profile.peers = {{0, format::no_peer, 1, 5, 0, 0}, {1, 0, 3, 24, 1, 8}};
  profile.phases = {{format::other_phase, 0, 0, 0, 0, 0, 0}, {0, 0, 0, 3000, 0, 0, 0}, {7, 0, 2, 2000, 400, 4, 32}};
  format::CommunicatorDefinition world{};
  world.communicator = world.group = 1;
  world.size = 2;
  world.key = 0x77;
  reader::Run run = open(functions_chunk() + process_chunk(process) +
                         definitions_chunk(process, group_definition(1, {{0, 1, 2}}) + communicator_definition(world) +
                                                        event_type_definition(7, format::EventClass::phase, "solve")) +
                         profile_chunk(process, 0, profile));
  EXPECT_EQ(cells(run, "communicators", {"communicator", "communicator_key", "size", "inter"}),
            (Rows{{"'#0'", "'0000000000000077'", "2", "false"}}));
  EXPECT_EQ(cells(run, "peers", {"rank", "peer", "sent_messages", "received_bytes"}),
            (Rows{{"1", "", "1", "0"}, {"1", "0", "3", "8"}}));
  EXPECT_EQ(cells(run, "phases", {"rank", "phase", "entries", "time_ns"}),
            (Rows{{"1", "'solve'", "2", "2000"}, {"1", "", "0", "3000"}}));
}

TEST_F(Tables, OfRanksHaveNoTimesThatNoReadingTells) {
  const format::ProcessRecord process = process_record(0, ProcessState::exited);
  format::ChunkHeader identity{};
  identity.type = format::ChunkType::scheduling;
  identity.process = process.process;
  format::SchedulingSums sums{};
  sums.readings = 90;
  sums.switches = 5;
  reader::Run run =
      open(functions_chunk() + process_chunk(process) +
           profile_chunk(process, 0, {profile_row("MPI_Init", 1, 1, 10, 0)}) + chunk(identity, bytes_of(sums)));
  EXPECT_EQ(cells(run, "ranks", {"switches", "descheduled_ns", "descheduled_outside_ns", "blocked_outside_ns"}),
            (Rows{{"5", "", "", ""}}));
}

TEST_F(Tables, OfSumsBeyondTheColumnHaveItsLargestNumber) {
  const format::ProcessRecord process = process_record(0, ProcessState::exited);
  const format::ProfileRow row = profile_row("MPI_Bcast", 1, 10, 1000, UINT64_MAX - 7);
  reader::Run run = open(functions_chunk() + process_chunk(process) + profile_chunk(process, 0, {row}));
  EXPECT_EQ(cells(run, "profile", {"function", "bytes"}), (Rows{{"'MPI_Bcast'", std::to_string(INT64_MAX)}}));
}

// 100 calls of 10 us each on average, with a standard deviation of 5 us, of which 40 were timed.
TEST_F(Tables, OfTheProfileHaveTheErrorOfSampledTimes) {
  const format::ProcessRecord process = process_record(0, ProcessState::exited);
  const auto row_of = [](const char* function, std::uint64_t estimated) {
    format::ProfileRow row = profile_row(function, 1, 100, 1'000'000, 0);
    row.ticks_squared = 100 * (10'000.0 * 10'000 + 5000.0 * 5000);
    row.estimated = estimated;
    return row;
  };
  reader::Run run = open(functions_chunk() + process_chunk(process) +
                         profile_chunk(process, 0,
                                       {row_of("MPI_Isend", 60), row_of("MPI_Irecv", 98), row_of("MPI_Issend", 99),
                                        row_of("MPI_Send", 0), row_of("MPI_Test", 60)}));
  Rows rows = cells(run, "profile", {"function", "time_ns", "time_error_ns"});
  std::sort(rows.begin(), rows.end());
  EXPECT_EQ(rows, (Rows{{"'MPI_Irecv'", "1000000", "685987"},  // 1.959964 * 100 * 5000 * sqrt(0.98 / 2)
                        {"'MPI_Isend'", "1000000", "120023"},  // 1.959964 * 100 * 5000 * sqrt(0.6 / 40)
                        {"'MPI_Issend'", "1000000", ""},       // one call says nothing about the spread
                        {"'MPI_Send'", "1000000", ""},
                        {"'MPI_Test'", "1000000", ""}}));  // what is timed of polls is no random sample
}

}  // namespace
}  // namespace tare::reader

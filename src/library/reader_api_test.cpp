#include <gtest/gtest.h>
#include <tare/reader.h>

#include <cstdint>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "reader/testing/synthetic.h"

namespace {

using namespace tare::reader::synthetic;
using tare::format::ProcessRecord;
using tare::format::ProcessState;

class ReaderApi : public ::testing::Test {
 protected:
  // Three ranks, each with a phase, and with a send in profile and trace.
  static std::string file() {
    std::string bytes = functions_chunk();
    for (std::uint32_t rank = 0; rank < 3; ++rank) {
      ProcessRecord process = process_record(rank, ProcessState::exited);
      process.size = 3;
      process.process += rank;
      const std::uint32_t next = (rank + 1) % 3;
      tare::format::CommunicatorDefinition world{};
      world.communicator = world.group = 1;
      world.size = 3;
      world.key = 7;
      tare::reader::Profile profile;
      profile.rows = {profile_row("MPI_Send", 1, 10, 1000, 80)};
      profile.peers = {{1, static_cast<std::int32_t>(next), 10, 80, 10, 80}};
      profile.phases = {{tare::format::other_phase, 0, 0, 0, 0, 0, 0}, {0, 0, 0, 3000, 0, 0, 0}};
      bytes += process_chunk(process) +
               definitions_chunk(process, group_definition(1, {{0, 1, 3}}) + communicator_definition(world, "all\xff") +
                                              python_site_definition(1, "solve.py", "solve", 12)) +
               profile_chunk(process, 0, profile) +
               events_chunk(process, 0, 0, bytes_of(call_record("MPI_Send", 1, 2000 + rank, 2100)));
    }
    return bytes;
  }
  void write(std::string_view bytes) {
    dir_.write("n.tare", bytes);
    dir_.write("meta.json", R"({"run_id":"0123456789abcdef","segment_dir":")" + dir_.path() + "\"}");
  }

  TempDir dir_;
};

// Reads to the end. Returns the number of rows, or -1 and the error in `why`.
std::int64_t rows_of(ArrowArrayStream& stream, std::string* why = nullptr) {
  ArrowSchema schema;
  EXPECT_EQ(stream.get_schema(&stream, &schema), 0);
  EXPECT_GT(schema.n_children, 0);
  std::int64_t rows = 0;
  ArrowArray batch{};
  int failed = 0;
  while ((failed = stream.get_next(&stream, &batch)) == 0 && batch.release != nullptr) {
    EXPECT_EQ(batch.n_children, schema.n_children);
    for (std::int64_t column = 0; column < batch.n_children; ++column)
      EXPECT_EQ(batch.children[column]->length, batch.length) << schema.children[column]->name;
    rows += batch.length;
    batch.release(&batch);
  }
  if (failed != 0 && why != nullptr) *why = stream.get_last_error(&stream);
  schema.release(&schema);
  stream.release(&stream);
  return failed == 0 ? rows : -1;
}

std::int64_t rows_of(tare_reader_run* run, const char* table) {
  ArrowArrayStream stream;
  if (tare_reader_open_table(run, table, &stream) == 0) return rows_of(stream);
  EXPECT_EQ(stream.release, nullptr);
  return -1;
}

TEST_F(ReaderApi, HasTheTablesThatItLists) {
  write(file());
  tare_reader_run* run = tare_reader_open(dir_.path().c_str(), nullptr);
  ASSERT_NE(run, nullptr) << tare_reader_error();
  std::size_t count = 0;
  const tare_reader_table* tables = tare_reader_tables(&count);
  std::set<std::string> names;
  for (std::size_t i = 0; i < count; ++i) {
    names.insert(tables[i].name);
    EXPECT_STRNE(tables[i].row, "");
    EXPECT_GE(rows_of(run, tables[i].name), 0) << tables[i].name << ": " << tare_reader_error();
  }
  EXPECT_EQ(names.size(), count);
  EXPECT_EQ(rows_of(run, "ranks"), 3);
  EXPECT_EQ(rows_of(run, "locations"), 3);
  EXPECT_EQ(rows_of(run, "communicators"), 1);
  EXPECT_EQ(rows_of(run, "peers"), 3);
  EXPECT_EQ(rows_of(run, "calls"), 3);
  EXPECT_EQ(rows_of(run, "flushes"), 0);
  EXPECT_STREQ(tare_reader_warnings(run), "");
  tare_reader_close(run);
}

TEST_F(ReaderApi, StreamsOutliveTheirRun) {
  write(file());
  tare_reader_run* run = tare_reader_open(dir_.path().c_str(), nullptr);
  ASSERT_NE(run, nullptr);
  ArrowArrayStream ranks, calls;
  ASSERT_EQ(tare_reader_open_table(run, "ranks", &ranks), 0);
  ASSERT_EQ(tare_reader_open_table(run, "calls", &calls), 0);
  tare_reader_close(run);
  EXPECT_EQ(rows_of(ranks), 3);
  EXPECT_EQ(rows_of(calls), 3);
}

TEST_F(ReaderApi, ThreadsMayShareARun) {
  write(file());
  tare_reader_run* run = tare_reader_open(dir_.path().c_str(), nullptr);
  ASSERT_NE(run, nullptr);
  std::vector<std::thread> threads;
  std::vector<std::int64_t> found(8);
  for (std::size_t i = 0; i < found.size(); ++i)
    threads.emplace_back([&, i] { found[i] = rows_of(run, i % 2 == 0 ? "peers" : "events"); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(found, std::vector<std::int64_t>(8, 3));
  tare_reader_close(run);
}

TEST_F(ReaderApi, SaysWhyItFails) {
  EXPECT_EQ(tare_reader_open("/no/such/run", nullptr), nullptr);
  EXPECT_STREQ(tare_reader_error(), "/no/such/run: no such run directory");
  EXPECT_EQ(tare_reader_open(nullptr, nullptr), nullptr);
  EXPECT_STREQ(tare_reader_error(), "no path of a run was given");
  EXPECT_EQ(tare_reader_open(dir_.path().c_str(), nullptr), nullptr);
  EXPECT_NE(std::string(tare_reader_error()).find("is not a run directory: it has no meta.json"), std::string::npos);
  dir_.write("meta.json", R"({"environment":{"run_id":"0123456789abcdef"}})");
  EXPECT_EQ(tare_reader_open(dir_.path().c_str(), nullptr), nullptr);
  EXPECT_NE(std::string(tare_reader_error()).find("is damaged: it has no run_id"), std::string::npos);
  write(file());
  EXPECT_EQ(tare_reader_open(dir_.path().c_str(), "other"), nullptr);
  EXPECT_NE(std::string(tare_reader_error()).find("is not an archive"), std::string::npos);
  tare_reader_run* run = tare_reader_open(dir_.path().c_str(), nullptr);
  ASSERT_NE(run, nullptr) << tare_reader_error();
  EXPECT_EQ(rows_of(run, "nonsense"), -1);
  EXPECT_NE(std::string(tare_reader_error()).find("there is no table nonsense; there are profile, "),
            std::string::npos);
  EXPECT_EQ(tare_reader_open_table(run, nullptr, nullptr), -1);
  EXPECT_EQ(tare_reader_open_table(nullptr, "ranks", nullptr), -1);
  std::thread([] { EXPECT_STREQ(tare_reader_error(), "") << "each thread has its own"; }).join();
  tare_reader_close(run);
  tare_reader_close(nullptr);
  EXPECT_STREQ(tare_reader_warnings(nullptr), "");
}

// If something is damaged, tables have fewer rows, and there is a warning or an error.
TEST_F(ReaderApi, SurvivesDamage) {
  constexpr std::size_t stride = 331;  // fuzzers damage every byte
  const std::string whole = file();
  std::size_t count = 0;
  const tare_reader_table* tables = tare_reader_tables(&count);
  std::size_t damaged = 0;
  for (std::size_t at = 1; at < whole.size(); at += stride) {
    for (const bool cut : {false, true}) {
      std::string bytes = cut ? whole.substr(0, at) : whole;
      if (!cut) bytes[at] = static_cast<char>(~bytes[at]);
      write(bytes);
      tare_reader_run* run = tare_reader_open(dir_.path().c_str(), nullptr);
      if (run == nullptr) {
        EXPECT_STRNE(tare_reader_error(), "");
        ++damaged;
        continue;
      }
      for (std::size_t i = 0; i < count; ++i) {
        ArrowArrayStream stream;
        std::string why;
        if (tare_reader_open_table(run, tables[i].name, &stream) != 0) {
          EXPECT_STRNE(tare_reader_error(), "");
        } else if (rows_of(stream, &why) < 0) {
          EXPECT_NE(why, "");
        }
      }
      damaged += *tare_reader_warnings(run) != '\0' ? 1 : 0;
      tare_reader_close(run);
    }
  }
  EXPECT_GT(damaged, whole.size() / stride);  // a cut behind a chunk is not seen
}

}  // namespace

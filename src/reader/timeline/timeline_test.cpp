#include "reader/timeline/timeline.h"

#include <gtest/gtest.h>

#include "format/functions.h"
#include "reader/testing/script.h"
#include "reader/testing/synthetic.h"
#include "reader/timeline/message_lines.h"
#include "reader/timeline/read_wait_lines.h"
#include "reader/timeline/row_index.h"

namespace tare::reader {
namespace {

using synthetic::Script;

// Rank 0 computes and then sends. Rank 1 waits for the message from the beginning. Then both make many short calls.
class TimelineTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ranks[0].compute(1000);
    ranks[0].call("MPI_Send", 10, 1, 7, format::no_request, 1, 64);
    ranks[1].call("MPI_Recv", 1020, 0, 7, format::no_request, 1, 64);
    for (int i = 0; i < short_calls; ++i)
      for (Script& rank : ranks) {
        rank.compute(5);
        rank.call("MPI_Barrier", 5);
      }
    file = synthetic::run_of(ranks);
    run.emplace(std::move(*Run::of_memory(file)));
    timeline.emplace(std::move(*Timeline::read(*run)));
  }
  double spent(const std::vector<Bin>& bins, std::size_t first, std::size_t count, Activity activity) const {
    double sum = 0;
    for (std::size_t i = first; i < first + count; ++i)
      sum += static_cast<double>(bins[i].share[static_cast<std::size_t>(activity)]) / Bin::whole;
    return sum / static_cast<double>(count);
  }
  std::int64_t length() const { return timeline->end_ns() - timeline->start_ns(); }
  Timeline::Window whole(std::size_t rows = 2, std::size_t group = 1) const {
    return {0, rows, group, timeline->start_ns(), timeline->end_ns()};
  }

  static constexpr int short_calls = 20000;  // in several chunks
  std::vector<Script> ranks{2};
  std::string file;
  std::optional<reader::Run> run;
  std::optional<Timeline> timeline;
};

TEST_F(TimelineTest, SharesAddUpToTheTimeInCalls) {
  const auto length_ns = static_cast<double>(length());
  for (const std::size_t columns : {std::size_t{1}, std::size_t{7}, std::size_t{100}, std::size_t{1500}}) {
    const auto bins = timeline->bins(whole(), columns);
    ASSERT_EQ(bins.size(), 2 * columns);
    EXPECT_NEAR(spent(bins, 0, columns, Activity::collective) * length_ns, 5 * short_calls, 5 * short_calls * 0.01);
    EXPECT_NEAR(spent(bins, columns, columns, Activity::receive) * length_ns, 1020, 30);
  }
}

// A file may name more functions than there are numbers.
TEST_F(TimelineTest, AnyNumberOfFunctionNamesIsRead) {
  std::vector<std::string> names;
  for (int i = 0; i < 70000; ++i) names.push_back("f" + std::to_string(i));
  const std::string many = file + synthetic::functions_chunk(names);
  auto opened = Run::of_memory(many);
  ASSERT_TRUE(opened);
  ASSERT_EQ(opened->functions().names().size(), std::size_t{UINT16_MAX} + 1);
  const auto read = Timeline::read(*opened);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->end_ns(), timeline->end_ns());
}

TEST_F(TimelineTest, AWindowOfAnyWidthShowsTheSame) {
  // The wider windows use the pyramid, the narrower ones the events.
  const std::int64_t from = timeline->start_ns() + length() / 2;
  for (const std::int64_t width : {length() / 4, std::int64_t{10000}, std::int64_t{1000}, std::int64_t{100}}) {
    const auto bins = timeline->bins({0, 2, 1, from, from + width}, 50);
    EXPECT_NEAR(spent(bins, 0, 50, Activity::collective), 0.5, 0.05) << width;
  }
}

TEST_F(TimelineTest, GroupsAreMeans) {
  const auto single = timeline->bins(whole(), 40), grouped = timeline->bins(whole(1, 2), 40);
  ASSERT_EQ(grouped.size(), 40);
  const double mean = (spent(single, 0, 40, Activity::receive) + spent(single, 40, 40, Activity::receive)) / 2;
  EXPECT_NEAR(spent(grouped, 0, 40, Activity::receive), mean, 1e-4);
}

TEST_F(TimelineTest, CallsOfAWindow) {
  const auto all = timeline->calls(whole(), 2 * short_calls + 2);
  ASSERT_TRUE(all.complete);
  ASSERT_EQ(all.calls.size(), 2 * short_calls + 2);
  EXPECT_EQ(all.calls[0].peer, 1);
  EXPECT_EQ(all.calls[0].bytes, 64);
  EXPECT_EQ(all.calls[0].duration_ns, 10);
  const auto few = timeline->calls({1, 1, 1, all.calls[0].start_ns, all.calls[0].start_ns + 1}, 10);
  ASSERT_TRUE(few.complete);
  ASSERT_EQ(few.calls.size(), 1);
  EXPECT_EQ(few.calls[0].row, 1);
  EXPECT_EQ(few.calls[0].duration_ns, 1020);
  EXPECT_FALSE(timeline->calls(whole(), 100).complete);
}

TEST_F(TimelineTest, TheLongestCalls) {
  const auto longest = timeline->longest(3);
  ASSERT_EQ(longest.calls.size(), 2);  // all others are equally long, and too many
  EXPECT_EQ(longest.min_ns, 10);
  EXPECT_EQ(timeline->longest(1'000'000).calls.size(), 2 * short_calls + 2);
}

TEST_F(TimelineTest, ASearchFindsByFunctionDurationPeerAndRow) {
  Search barriers;
  barriers.functions.resize(run->functions().names().size());
  barriers.words = 1;
  for (std::size_t i = 0; i < barriers.functions.size(); ++i)
    barriers.functions[i] = run->functions().name(static_cast<std::uint16_t>(i)) == "MPI_Barrier";
  const auto found = timeline->find(barriers, 3);
  EXPECT_EQ(found.count, 2 * short_calls);
  ASSERT_EQ(found.longest.size(), 3U);
  EXPECT_EQ(found.longest[0].duration_ns, 5);
  barriers.rows = 1;
  EXPECT_EQ(timeline->find(barriers, 3).count, short_calls);
  barriers.words = 3;  // nothing has the second word
  EXPECT_EQ(timeline->find(barriers, 3).count, 0U);
  EXPECT_EQ(timeline->find({.min_ns = 6}, 3).count, 2U);
  EXPECT_EQ(timeline->find({.peer = 1}, 3).count, 1U);
  EXPECT_EQ(timeline->find({.first = 5}, 3).count, 0U);
  const auto longest = timeline->find({.min_ns = 6}, 1).longest;
  ASSERT_EQ(longest.size(), 1U);
  EXPECT_EQ(longest[0].duration_ns, 1020);
}

TEST_F(TimelineTest, WhatLiesAroundATime) {
  const auto all = timeline->calls(whole(), 2 * short_calls + 2).calls;
  const auto& send = all[0];
  const auto before = timeline->around(0, send.start_ns - 1);
  ASSERT_EQ(before.size(), 1U);  // the first call is next
  EXPECT_EQ(before[0].start_ns, send.start_ns);
  const auto in_gap = timeline->around(0, send.start_ns + 12);
  ASSERT_EQ(in_gap.size(), 2U);
  EXPECT_EQ(in_gap[0].start_ns, send.start_ns);
  EXPECT_EQ(in_gap[1].start_ns, send.start_ns + 15);
  const auto in_call = timeline->around(0, send.start_ns + 15);
  ASSERT_EQ(in_call.size(), 3U);
  EXPECT_EQ(in_call[1].start_ns, send.start_ns + 15);
  // Also where the neighbours lie in other chunks.
  for (std::size_t i = 1; i + 2 < short_calls; i += 997) {
    const auto found = timeline->around(0, all[i].start_ns + 5);
    ASSERT_EQ(found.size(), 2U) << i;
    EXPECT_EQ(found[0].start_ns, all[i].start_ns);
    EXPECT_EQ(found[1].start_ns, all[i + 1].start_ns);
  }
  EXPECT_EQ(timeline->around(0, timeline->end_ns() + 100).size(), 1U);
  EXPECT_TRUE(timeline->around(7, send.start_ns).empty());
}

// Rank 1 waits 1000 ns for rank 0, which computes; then nobody waits for long.
TEST_F(TimelineTest, WaitsAndTheCriticalPath) {
  const std::int64_t from = timeline->start_ns();
  const auto near = [&] { return timeline->bins({1, 1, 1, from, from + 2000}, 200); };
  EXPECT_EQ(spent(near(), 0, 200, Activity::waiting), 0);
  const double received = spent(near(), 0, 200, Activity::receive),
               far = spent(timeline->bins(whole(), 1), 1, 1, Activity::receive);
  auto waits = read_wait_lines(*run, *timeline);
  ASSERT_TRUE(waits) << waits.error();
  ASSERT_EQ(waits->of_row.size(), 2U);
  ASSERT_FALSE(waits->of_row[1].empty());
  const WaitLine wait = waits->of_row[1][0];
  EXPECT_EQ(wait.wait_ns, 1000);
  EXPECT_EQ(wait.kind, WaitKind::late_sender);
  EXPECT_EQ(wait.cause_row, 0U);
  EXPECT_EQ(wait.cause_ns - wait.start_ns, 1000);
  timeline->set_waits(std::move(*waits));
  // From the events, and from the pyramid: what was receiving is now waiting, but for 20 ns.
  EXPECT_NEAR(spent(near(), 0, 200, Activity::waiting), 0.5, 0.002);
  EXPECT_NEAR(spent(near(), 0, 200, Activity::receive) + 0.5, received, 0.002);
  const auto whole_run = timeline->bins(whole(), 1);
  EXPECT_NEAR(spent(whole_run, 1, 1, Activity::receive) / far, 0.02, 0.02);
  EXPECT_GT(spent(whole_run, 1, 1, Activity::waiting), 0.9 * far);

  const auto found = timeline->find_waits({.min_ns = 900}, 5);
  ASSERT_EQ(found.count, 1U);
  EXPECT_EQ(found.longest[0].start_ns, wait.start_ns);
  EXPECT_EQ(timeline->find_waits({.min_ns = 900, .peer = 1}, 5).count, 0U);
  EXPECT_EQ(timeline->waits({1, 1, 1, wait.start_ns, wait.start_ns + 1}, 5).size(), 1U);
  EXPECT_TRUE(timeline->waits({0, 1, 1, wait.start_ns, wait.start_ns + 1}, 5).empty());
  // While rank 1 waits, the path is on rank 0.
  const auto path = timeline->path({0, 2, 1, wait.start_ns + 500, wait.start_ns + 501}, 5);
  ASSERT_EQ(path.size(), 1U);
  EXPECT_EQ(path[0].row, 0U);
}

TEST_F(TimelineTest, AMessageIsALine) {
  const auto lines = MessageLines::read(*run, *timeline, 10);
  ASSERT_TRUE(lines) << lines.error();
  ASSERT_EQ(lines->lines().size(), 1);
  const MessageLine& line = lines->lines()[0];
  EXPECT_EQ(line.from, 0);
  EXPECT_EQ(line.to, 1);
  EXPECT_EQ(line.taken_ns - line.sent_ns, 20);
  EXPECT_EQ(lines->of(whole(), 10).size(), 1);
  EXPECT_TRUE(lines->of({0, 2, 1, line.taken_ns + 1, line.taken_ns + 2}, 10).empty());
}

// A rank of which the newest events are kept, and which left out a spell.
TEST(Timeline, AGapIsNoTimeOutsideOfCalls) {
  std::vector<Script> ranks(1);
  ranks[0].is_overwritten(100'000);
  ranks[0].call("MPI_Barrier", 10);
  ranks[0].is_left_out(50'000, 1);
  ranks[0].compute(20);
  ranks[0].call("MPI_Barrier", 10);
  const std::string file = synthetic::run_of(ranks);
  auto run = Run::of_memory(file);
  ASSERT_TRUE(run);
  const auto timeline = Timeline::read(*run);
  ASSERT_TRUE(timeline) << timeline.error();
  const auto all = timeline->calls({0, 1, 1, timeline->start_ns(), timeline->end_ns()}, 10).calls;
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0].function, TimelineCall::gap);
  EXPECT_EQ(all[0].start_ns, timeline->start_ns());
  EXPECT_EQ(all[0].duration_ns, all[1].start_ns - timeline->start_ns());
  EXPECT_EQ(all[2].function, TimelineCall::gap);
  EXPECT_EQ(all[2].duration_ns, 50'000);
  for (const TimelineCall& gap : {all[0], all[2]}) {
    const auto bins = timeline->bins({0, 1, 1, gap.start_ns, gap.start_ns + gap.duration_ns}, 1);
    EXPECT_NEAR(bins[0].share[static_cast<std::size_t>(Activity::untraced)], Bin::whole, Bin::whole * 0.005);
  }
  const auto around = timeline->around(0, all[2].start_ns + 1);
  ASSERT_EQ(around.size(), 3U);
  EXPECT_EQ(around[1].function, TimelineCall::gap);
  ASSERT_EQ(timeline->rows()[0].threads.size(), 1U);
  EXPECT_EQ(timeline->rows()[0].threads[0].ns, all[1].start_ns);
}

TEST(Timeline, OfARunWithoutATraceIsEmpty) {
  auto run = Run::of_memory({});
  ASSERT_TRUE(run) << run.error();
  const auto timeline = Timeline::read(*run);
  ASSERT_TRUE(timeline);
  EXPECT_TRUE(timeline->rows().empty());
  EXPECT_TRUE(timeline->longest(10).calls.empty());
}

// A call of another source than MPI.
std::string source_call(const char* name, std::uint64_t enter, std::uint64_t leave,
                        const std::vector<std::uint64_t>& arguments) {
  std::uint16_t function = format::function_count;
  while (std::string_view(format::function_name(function)) != name) --function;
  const auto words = static_cast<std::uint16_t>(sizeof(format::SourceCallRecord) / 8 + arguments.size());
  std::string bytes =
      synthetic::bytes_of(format::SourceCallRecord{{format::source_call, words}, function, enter, leave, 0, 0});
  for (const std::uint64_t argument : arguments) bytes += synthetic::bytes_of(argument);
  return bytes;
}

// A send of 100 ns, a write before it, and an fsync behind it, which is recorded first.
TEST(TimelineOfSources, TheirCallsLieBetweenThoseOfMpi) {
  using namespace synthetic;
  format::ProcessRecord process = process_record(0, format::ProcessState::exited);
  process.end = 10000;
  const std::string records = source_call("fsync", 3200, 3500, {3, 0}) +
                              bytes_of(call_record("MPI_Send", 0, 3000, 3100)) +
                              source_call("write", 2900, 2950, {4096, 3, 0});
  const std::string file = process_chunk(process) + events_chunk(process, 0, 0, records);
  auto run = Run::of_memory(file);
  ASSERT_TRUE(run);
  auto timeline = Timeline::read(*run);
  ASSERT_TRUE(timeline);
  const auto all = timeline->calls({0, 1, 1, timeline->start_ns(), timeline->start_ns() + 100000}, 10);
  ASSERT_EQ(all.calls.size(), 3U);
  EXPECT_EQ(run->functions().name(all.calls[0].function), "write");
  EXPECT_EQ(all.calls[0].bytes, 4096);
  EXPECT_EQ(all.calls[0].duration_ns, 50);
  EXPECT_EQ(run->functions().name(all.calls[1].function), "MPI_Send");
  EXPECT_EQ(all.calls[1].start_ns - all.calls[0].start_ns, 100);
  EXPECT_EQ(run->functions().name(all.calls[2].function), "fsync");
  EXPECT_EQ(all.calls[2].bytes, -1);
  const std::int64_t from = all.calls[0].start_ns;
  const auto bins = timeline->bins({0, 1, 1, from, from + 600}, 1);
  EXPECT_NEAR(bins[0].share[static_cast<std::size_t>(Activity::file)], Bin::whole * 350.0 / 600, Bin::whole * 0.015);
  EXPECT_NEAR(bins[0].share[static_cast<std::size_t>(Activity::send)], Bin::whole * 100.0 / 600, Bin::whole * 0.015);
  EXPECT_EQ(run->functions().name(bins[0].function), "fsync");
  const auto longest = timeline->longest(1);
  ASSERT_EQ(longest.calls.size(), 1U);
  EXPECT_EQ(run->functions().name(longest.calls[0].function), "fsync");
}

TEST(TimelineOfSources, OpenMpHasAnActivityOfItsOwn) {
  using namespace synthetic;
  const auto process = process_record(0, format::ProcessState::exited);
  const std::string file =
      process_chunk(process) + events_chunk(process, 0, 0, source_call("omp_barrier", 3000, 3600, {}));
  auto run = Run::of_memory(file);
  ASSERT_TRUE(run);
  auto timeline = Timeline::read(*run);
  ASSERT_TRUE(timeline);
  const std::int64_t from =
      timeline->calls({0, 1, 1, timeline->start_ns(), timeline->end_ns()}, 1).calls.at(0).start_ns;
  const auto bins = timeline->bins({0, 1, 1, from, from + 600}, 1);
  EXPECT_NEAR(bins[0].share[static_cast<std::size_t>(Activity::openmp)], Bin::whole, Bin::whole * 0.015);
}

// Threads 1 and 2 have location 0 one after another, thread 3 location 1. The flush of thread 1 at its end lies in the
// chunk of thread 2. Location 0 has readings.
TEST(TimelineOfThreads, RowsTellTheirThreadsAndWhenTheyWereObserved) {
  using namespace synthetic;
  const auto process = process_record(0, format::ProcessState::exited);
  Script first, second, third;
  first.compute(100);
  first.call("MPI_Barrier", 10);
  second.compute(150);
  second.flushes(20);
  second.compute(1000);
  second.call("MPI_Barrier", 10);
  third.call("MPI_Barrier", 10);
  format::SchedulingSums sums{};
  sums.readings = 2;
  sums.observed_ns = 1000;
  format::ChunkHeader identity{};
  identity.type = format::ChunkType::scheduling;
  identity.process = process.process;
  const std::string file =
      process_chunk(process) + chunk(identity, bytes_of(sums)) + events_chunk(process, 0, 0, first.records(), 1) +
      events_chunk(process, 0, 1, second.records(), 2) + events_chunk(process, 1, 0, third.records(), 3);
  auto run = Run::of_memory(file);
  ASSERT_TRUE(run);
  auto timeline = Timeline::read(*run);
  ASSERT_TRUE(timeline);
  ASSERT_EQ(timeline->rows().size(), 2U);
  const Timeline::Row &shared = timeline->rows()[0], &other = timeline->rows()[1];
  ASSERT_EQ(shared.threads.size(), 2U);
  EXPECT_EQ(shared.threads[0].thread, 1U);
  EXPECT_EQ(shared.threads[1].thread, 2U);
  EXPECT_EQ(shared.threads[1].ns - shared.threads[0].ns, 150 + 20 + 1000 - 100);
  EXPECT_EQ(shared.threads[0].ns - shared.observed_from_ns, 100);
  EXPECT_EQ(shared.observed_to_ns - shared.observed_from_ns, 8000 - 2000);
  ASSERT_EQ(other.threads.size(), 1U);
  EXPECT_EQ(other.threads[0].thread, 3U);
  EXPECT_EQ(other.observed_to_ns, 0);
  EXPECT_EQ(RowIndex(*timeline).find(0, 0, 1), 0U);
}

}  // namespace
}  // namespace tare::reader

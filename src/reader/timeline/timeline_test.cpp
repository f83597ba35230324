#include "reader/timeline/timeline.h"

#include <gtest/gtest.h>

#include "format/functions.h"
#include "reader/testing/script.h"
#include "reader/testing/synthetic.h"
#include "reader/timeline/message_lines.h"

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

TEST(Timeline, OfARunWithoutATraceIsEmpty) {
  auto run = Run::of_memory({});
  ASSERT_TRUE(run) << run.error();
  const auto timeline = Timeline::read(*run);
  ASSERT_TRUE(timeline);
  EXPECT_TRUE(timeline->rows().empty());
  EXPECT_TRUE(timeline->longest(10).calls.empty());
}

// A send of 100 ns, a write before it, and an fsync behind it, which is recorded first.
TEST(TimelineOfSources, TheirCallsLieBetweenThoseOfMpi) {
  using namespace synthetic;
  const auto number = [](const char* name) {
    std::uint16_t found = format::function_count;
    while (std::string_view(format::function_name(found)) != name) --found;
    return found;
  };
  const auto call = [](std::uint16_t function, std::uint64_t enter, std::uint64_t leave,
                       const std::vector<std::uint64_t>& arguments) {
    const auto words = static_cast<std::uint16_t>(sizeof(format::SourceCallRecord) / 8 + arguments.size());
    std::string bytes = bytes_of(format::SourceCallRecord{{format::source_call, words}, function, enter, leave, 0, 0});
    for (const std::uint64_t argument : arguments) bytes += bytes_of(argument);
    return bytes;
  };
  format::ProcessRecord process = process_record(0, format::ProcessState::exited);
  process.end = 10000;
  const std::string records = call(number("fsync"), 3200, 3500, {3, 0}) +
                              bytes_of(call_record("MPI_Send", 0, 3000, 3100)) +
                              call(number("write"), 2900, 2950, {4096, 3, 0});
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

}  // namespace
}  // namespace tare::reader

#include "tared/monitor/node_reduction.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "recorder/clock.h"
#include "tared/filters/statistics.h"

namespace tare::tared {
namespace {

struct Kept {
  std::uint64_t round;
  std::string ranks, lost;
  StatisticsTable table;
};
class Keeps : public RoundSink {
 public:
  void name(EventKey key, std::string_view text) override { names[key] += text; }
  void round(const Round& round) override {
    Kept kept{round.round, round.ranks.text(), round.lost.text(), {}};
    Reader in(round.reduced);
    EXPECT_TRUE(StatisticsTable::read(in, kept.table));
    rounds.push_back(kept);
  }
  void lost_round(std::uint64_t, const RankSet&) override {}
  std::map<EventKey, std::string> names;
  std::vector<Kept> rounds;
};

constexpr std::int64_t patience_ns = 3'000'000'000'000;

class NodeReductionTest : public ::testing::Test {
 protected:
  void offload(std::uint64_t round, std::uint32_t rank, double value = 1) {
    const EventKey key = event_key("MPI_Send");
    const Metrics metrics{value, 2 * value, 3 * value};
    reduction_.snapshot({round, rank, 0, {&key, 1}, {&metrics, 1}});
  }
  static std::int64_t now() { return static_cast<std::int64_t>(recorder::read_ns(CLOCK_REALTIME)); }
  void advance(std::int64_t later_ns = 0) { reduction_.advance(three_, now() + later_ns); }

  StatisticsFilter filter_;
  Keeps sink_;
  RankSet three_ = RankSet::of_range(0, 3);
  NodeReduction reduction_{filter_, "statistics", sink_, patience_ns};
};

TEST_F(NodeReductionTest, ARoundIsHandedOnWhenAllRanksAreInIt) {
  offload(1, 0, 1);
  offload(1, 1, 2);
  offload(2, 0, 5);
  advance();
  EXPECT_TRUE(sink_.rounds.empty());
  offload(1, 2, 6);
  advance();
  ASSERT_EQ(sink_.rounds.size(), 1U);
  const Kept& made = sink_.rounds[0];
  EXPECT_EQ(made.ranks, "0-2");
  EXPECT_EQ(made.lost, "");
  ASSERT_EQ(made.table.size(), 1U);
  EXPECT_DOUBLE_EQ(made.table.mean[0], 3);
  EXPECT_EQ(made.table.most_rank[0], 2U);
}

TEST_F(NodeReductionTest, ARankThatIsFurtherOnHasLostTheRound) {
  offload(1, 0);
  offload(1, 2);
  offload(3, 1);
  advance();
  ASSERT_EQ(sink_.rounds.size(), 1U);
  EXPECT_EQ(sink_.rounds[0].ranks, "0,2");
  EXPECT_EQ(sink_.rounds[0].lost, "1");
  offload(3, 0);
  offload(3, 2);
  advance();
  ASSERT_EQ(sink_.rounds.size(), 2U);
  EXPECT_EQ(sink_.rounds[1].ranks, "0-2");
}

TEST_F(NodeReductionTest, ARankThatHangsIsNotWaitedForForEver) {
  offload(1, 0);
  offload(1, 1);
  advance(patience_ns / 2);
  EXPECT_TRUE(sink_.rounds.empty());
  advance(2 * patience_ns);
  ASSERT_EQ(sink_.rounds.size(), 1U);
  EXPECT_EQ(sink_.rounds[0].lost, "2");
  offload(1, 2);
  EXPECT_EQ(reduction_.late(), 1U);
}

TEST_F(NodeReductionTest, WhatWaitsIsBounded) {
  for (std::uint64_t round = 1; round <= 3 * NodeReduction::most_open; ++round) {
    offload(round, 0);
    advance();
  }
  EXPECT_EQ(sink_.rounds.size(), 2 * NodeReduction::most_open);
}

TEST_F(NodeReductionTest, ARankThatIsThereTwiceCountsOnce) {
  offload(1, 0, 1);
  offload(1, 0, 9);
  reduction_.finish(three_, now());
  ASSERT_EQ(sink_.rounds.size(), 1U);
  EXPECT_EQ(sink_.rounds[0].table.ranks[0], 1U);
  EXPECT_DOUBLE_EQ(sink_.rounds[0].table.mean[0], 1);
}

}  // namespace
}  // namespace tare::tared

#include "tared/tree/round_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>

#include "tared/filters/clock.h"
#include "tared/filters/tables.h"

namespace tare::tared {
namespace {

constexpr std::array<EventKey, 1> keys{1};
const std::array<Metrics, 1> values{{{1, 2, 3}}};

Snapshot snapshot(std::uint64_t round, std::uint32_t rank) {
  return {round, rank, static_cast<std::int64_t>(1000 * round + rank), keys, values};
}

struct Left {
  std::uint64_t round;
  RankSet ranks;
  RankSet lost;
  bool has_result;
  std::uint64_t dropped;
};

class Table : public ::testing::Test {
 protected:
  void make(std::uint32_t ranks, RoundLimits limits = {}) {
    table_ = std::make_unique<RoundTable>(filter_, limits);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) table_->join(rank, RankSet::of_range(rank, 1));
  }
  std::vector<Left> take(std::int64_t now_ns = 0) {
    std::vector<Left> left;
    while (table_->take(now_ns, [&](const RoundTable::Done& done) {
      left.push_back({done.part.round, done.part.ranks, done.part.lost, done.result != nullptr, done.part.dropped});
    })) {
    }
    return left;
  }
  Part part_of(std::uint64_t round, std::uint32_t first, std::uint32_t count) {
    const auto reduction = filter_.begin();
    for (std::uint32_t i = 0; i < count; ++i) reduction->add(snapshot(round, first + i));
    bytes_.clear();
    Writer out(bytes_);
    reduction->write(out);
    Part part;
    part.round = round;
    part.ranks = RankSet::of_range(first, count);
    part.reduced = bytes_;
    return part;
  }

  CollectingFilter filter_;
  std::unique_ptr<RoundTable> table_;
  Bytes bytes_;
};

// Rounds begin in any order, so those before and after the change are under way together.
TEST_F(Table, AnotherFilterReducesRoundsFromTheOneOfTheChangeOn) {
  make(2);
  const StatisticsFilter other;
  for (std::uint64_t round = 0; round < 4; ++round)  // so that there are reductions to be used again
    for (const std::uint32_t rank : {0U, 1U}) table_->add(snapshot(round, rank), 0);
  take();
  table_->change_filter(other, 6);
  for (const std::uint64_t round : {4U, 5U, 6U, 7U}) table_->add(snapshot(round, 0), 0);
  for (const std::uint64_t round : {4U, 5U, 6U, 7U}) table_->add(snapshot(round, 1), 0);
  for (const std::uint64_t round : {8U, 9U})
    for (const std::uint32_t rank : {0U, 1U}) table_->add(snapshot(round, rank), 0);
  std::uint64_t next = 4;
  while (table_->take(0, [&](const RoundTable::Done& done) {
    EXPECT_EQ(done.part.round, next++);
    EXPECT_EQ(dynamic_cast<StatisticsReduction*>(done.result) != nullptr, done.part.round >= 6) << done.part.round;
    if (const auto* collected = dynamic_cast<CollectingReduction*>(done.result)) {
      EXPECT_EQ(collected->table().ranks.size(), 2U);
    }
  })) {
  }
  EXPECT_EQ(next, 10U);
}

TEST_F(Table, ARoundLeavesWhenTheLastChildHasArrived) {
  make(3);
  table_->add(snapshot(0, 0), 0);
  table_->add(snapshot(0, 2), 0);
  table_->add(snapshot(1, 2), 0);
  EXPECT_TRUE(take().empty());
  table_->add(snapshot(0, 1), 0);
  const auto left = take();
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(left[0].ranks, RankSet::of_range(0, 3));
  EXPECT_TRUE(left[0].lost.empty());
  EXPECT_EQ(table_->counts().whole, 1U);
}

TEST_F(Table, ALaterRoundSaysThatAnEarlierOneIsLost) {
  make(2);
  table_->add(snapshot(0, 0), 0);
  table_->add(snapshot(1, 0), 0);
  table_->add(snapshot(1, 1), 0);
  const auto left = take();
  ASSERT_EQ(left.size(), 2U);
  EXPECT_EQ(left[0].ranks.text(), "0");
  EXPECT_EQ(left[0].lost.text(), "1");
  EXPECT_EQ(left[1].ranks.text(), "0-1");
}

TEST_F(Table, MoreFailedChildrenThanAcceptedMakeNoResult) {
  for (const std::uint32_t acceptance : {0U, 1U, 2U}) {
    make(4, {.acceptance = acceptance});
    for (const std::uint32_t rank : {0U, 1U}) table_->add(snapshot(0, rank), 0);
    for (const std::uint32_t rank : {0U, 1U, 2U, 3U}) table_->add(snapshot(1, rank), 0);
    const auto left = take();
    ASSERT_EQ(left.size(), 2U);
    EXPECT_EQ(left[0].has_result, acceptance >= 2);
    EXPECT_EQ(left[0].lost.text(), acceptance >= 2 ? "2-3" : "0-3");
    EXPECT_TRUE(left[1].has_result);
    EXPECT_EQ(table_->counts().refused, acceptance >= 2 ? 0U : 1U);
  }
}

TEST_F(Table, PatienceEnds) {
  make(2, {.patience_ns = 100});
  table_->add(snapshot(0, 0), 50);
  EXPECT_EQ(table_->deadline_ns(), 150);
  EXPECT_TRUE(take(149).empty());
  const auto left = take(150);
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(left[0].lost.text(), "1");
  table_->add(snapshot(0, 1), 160);
  EXPECT_EQ(table_->counts().late, 1U);
  EXPECT_EQ(table_->counts().given_up, 1U);
}

TEST_F(Table, ARankThatIsFarAheadIsHeld) {
  make(2, {.window = 4});
  std::uint64_t round = 0;
  for (; table_->has_room(0) && round < 100; ++round) table_->add(snapshot(round, 0), 0);
  EXPECT_EQ(round, 4U);
  EXPECT_TRUE(table_->has_room(1));
  EXPECT_TRUE(take().empty()) << "nothing is given up for it";
}

TEST_F(Table, AChildThatLeavesIsWaitedForNoLonger) {
  make(2);
  table_->add(snapshot(0, 0), 0);
  table_->leave(1);
  EXPECT_EQ(take().size(), 1U);
  table_->add(snapshot(1, 1), 0);
  EXPECT_EQ(table_->under_way(), 0U) << "it is no child";
}

// Rounds that are under way at the end of a job: a rank that came to no further point is missing in them.
TEST_F(Table, RanksThatEndAreLostInRoundsUnderWay) {
  for (const std::uint32_t acceptance : {UINT32_MAX, 1U, 0U}) {
    make(3, {.acceptance = acceptance});
    table_->add(snapshot(0, 0), 0);
    table_->add(snapshot(0, 1), 0);
    table_->add(snapshot(1, 0), 0);
    table_->leave(0);
    table_->add(snapshot(1, 1), 0);
    EXPECT_TRUE(take().empty());
    table_->leave(2);
    table_->add(snapshot(2, 1), 0);
    table_->leave_all();
    const auto left = take();
    ASSERT_EQ(left.size(), 3U);
    for (const std::size_t round : {0U, 1U}) {
      EXPECT_EQ(left[round].has_result, acceptance >= 1) << round;
      EXPECT_EQ(left[round].lost.text(), acceptance >= 1 ? "2" : "0-2") << round;
    }
    EXPECT_TRUE(left[2].has_result);
    EXPECT_EQ(left[2].ranks.text(), "1");
    EXPECT_TRUE(left[2].lost.empty()) << "began when the others had ended";
  }
}

TEST_F(Table, RanksThatEndBelowAreLostInRoundsUnderWay) {
  make(1, {.acceptance = 1});
  const auto child = RoundTable::node_child(7);
  table_->join(child, RankSet::of_range(5, 3));
  table_->add(snapshot(0, 0), 0);
  table_->add(snapshot(1, 0), 0);
  table_->join(child, RankSet::of_range(5, 2));  // 7 has ended
  table_->add(child, part_of(0, 5, 3), 0);       // what it had sent before comes now
  table_->join(child, {});
  table_->leave(child);
  const auto left = take();
  ASSERT_EQ(left.size(), 2U);
  EXPECT_EQ(left[0].ranks.text(), "0,5-7");
  EXPECT_TRUE(left[0].lost.empty());
  EXPECT_EQ(left[1].ranks.text(), "0");
  EXPECT_EQ(left[1].lost.text(), "5-7");
}

TEST_F(Table, RanksOfAChildThatIsLostAreMissedUntilTheyAreBack) {
  make(1, {});
  const auto child = RoundTable::node_child(7);
  table_->join(child, RankSet::of_range(5, 2));
  table_->lose_child(child);
  table_->add(snapshot(0, 0), 0);
  auto left = take(0);
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(left[0].lost.text(), "5-6");
  table_->join(RoundTable::node_child(8), RankSet::of_range(5, 1));
  table_->leave(RoundTable::node_child(8));
  table_->add(snapshot(1, 0), 0);
  left = take(0);
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(left[0].lost.text(), "6");
}

TEST_F(Table, ASilentChildIsNotWaitedForUntilItBringsSomething) {
  make(2, {.patience_ns = 100});
  table_->add(snapshot(0, 0), 0);
  EXPECT_EQ(take(100).size(), 1U);
  table_->add(snapshot(1, 0), 101);
  EXPECT_EQ(take(101).size(), 1U) << "rank 1 was waited for again";
  table_->add(snapshot(2, 1), 102);
  table_->add(snapshot(3, 0), 102);
  EXPECT_EQ(take(102).size(), 1U) << "rank 1 is back, and may still bring round 3";
  table_->add(snapshot(3, 1), 103);
  const auto left = take(103);
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(left[0].ranks.text(), "0-1");
}

TEST_F(Table, WhatRanksHaveDroppedIsToldOnce) {
  make(2, {.acceptance = 0, .patience_ns = 100});
  const auto offload = [&](std::uint64_t round, std::uint32_t rank, std::uint64_t dropped) {
    Snapshot made = snapshot(round, rank);
    made.dropped = dropped;
    table_->add(made, 0);
  };
  offload(0, 0, 0);
  offload(0, 1, 0);
  EXPECT_EQ(take().front().dropped, 0U);
  offload(3, 0, 2);
  offload(4, 0, 0);
  offload(4, 1, 3);
  const auto left = take();
  ASSERT_EQ(left.size(), 2U);
  EXPECT_FALSE(left[0].has_result);
  EXPECT_EQ(left[1].dropped, 5U) << "that of a round without result comes with the next one";
}

TEST_F(Table, ARoundThatTheTreeBringsTooLateIsDropped) {
  make(1, {.patience_ns = 1'000'000'000});
  const auto child = RoundTable::node_child(7);
  table_->join(child, RankSet::of_range(5, 2));
  const auto late_by = [&](std::uint64_t round, std::int64_t ns) {
    table_->add(snapshot(round, 0), 0);
    EXPECT_EQ(take(2'000'000'000).size(), 1U);
    Part part = part_of(round, 5, 2);
    part.first_offload_ns = part.last_offload_ns = realtime_ns() - ns;
    table_->add(child, part, 0);
    table_->add(snapshot(round + 1, 0), 0);
    part = part_of(round + 1, 5, 2);
    table_->add(child, part, 0);
    return take().front().dropped;
  };
  EXPECT_EQ(late_by(0, 2'000'000'000), 2U);
  EXPECT_EQ(late_by(2, 0), 0U) << "its ranks have just come to the point";
}

TEST_F(Table, AChildWithoutRanksIsNotWaitedFor) {
  make(1, {.acceptance = 0});
  const auto child = RoundTable::node_child(1);
  table_->join(child, {});
  table_->add(snapshot(0, 0), 0);
  ASSERT_EQ(take().size(), 1U);
  EXPECT_EQ(table_->counts().refused, 0U);
  // Later, the child has ranks.
  table_->join(child, RankSet::of_range(5, 1));
  table_->add(snapshot(1, 0), 0);
  EXPECT_TRUE(take().empty());
  table_->add(child, part_of(1, 5, 1), 0);
  EXPECT_EQ(take().front().ranks.text(), "0,5");
}

TEST_F(Table, RanksThatMoveToAnotherChildAreItsOwn) {
  make(0);
  const auto a = RoundTable::node_child(1);
  const auto b = RoundTable::node_child(2);
  table_->join(a, RankSet::of_range(0, 8));
  table_->join(b, RankSet::of_range(4, 4));
  EXPECT_EQ(table_->ranks(), RankSet::of_range(0, 8));
  table_->add(a, part_of(0, 0, 4), 0);
  EXPECT_TRUE(take().empty());
  table_->add(b, part_of(0, 4, 4), 0);
  EXPECT_EQ(take().front().ranks, RankSet::of_range(0, 8));
  // The same ranks by both: the second is refused, and its other ranks with it.
  table_->add(a, part_of(1, 0, 8), 0);
  EXPECT_FALSE(table_->add(b, part_of(1, 4, 4), 0));
  EXPECT_EQ(take().front().ranks, RankSet::of_range(0, 8));
  EXPECT_EQ(table_->counts().malformed, 1U);
}

TEST_F(Table, ABadResultIsAFailedChild) {
  make(1);
  const auto child = RoundTable::node_child(1);
  table_->join(child, RankSet::of_range(1, 2));
  table_->add(snapshot(0, 0), 0);
  Part part = part_of(0, 1, 2);
  part.reduced = part.reduced.first(part.reduced.size() - 1);
  EXPECT_FALSE(table_->add(child, part, 0));
  const auto left = take();
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(left[0].ranks.text(), "0");
  EXPECT_EQ(left[0].lost.text(), "1-2");
}

// Any order of arrival that keeps each rank's order: each snapshot is in exactly one round, its own, or counted lost.
TEST_F(Table, EachSnapshotIsInItsRoundOrLost) {
  std::mt19937 random(1);
  for (int trial = 0; trial < 200; ++trial) {
    const std::uint32_t ranks = 1 + random() % 6;
    constexpr std::uint64_t rounds = 30;
    make(ranks, {.window = 8});
    std::vector<std::vector<std::uint64_t>> to_come(ranks);
    std::vector<RankSet> offered(rounds);
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
      for (std::uint64_t round = rounds; round-- > 0;)
        if (random() % 8 != 0) {
          to_come[rank].push_back(round);
          offered[round].insert(rank);
        }
    std::vector<Left> left;
    const auto take_all = [&] {
      for (Left& one : take()) left.push_back(std::move(one));
    };
    for (bool is_any = true; is_any;) {
      is_any = false;
      for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        if (to_come[rank].empty()) continue;
        is_any = true;
        if (random() % 2 == 0 || !table_->has_room(rank)) continue;
        table_->add(snapshot(to_come[rank].back(), rank), 0);
        to_come[rank].pop_back();
        take_all();
      }
      for (std::uint32_t rank = 0; rank < ranks; ++rank)
        if (to_come[rank].empty()) table_->leave(rank);
      take_all();
    }
    std::uint64_t before = 0;
    std::size_t nonempty = 0;
    for (const RankSet& of : offered) nonempty += of.empty() ? 0 : 1;
    ASSERT_EQ(left.size(), nonempty);
    for (const Left& one : left) {
      EXPECT_TRUE(&one == &left.front() || one.round > before);
      before = one.round;
      EXPECT_EQ(one.ranks, offered[one.round]);
    }
    EXPECT_EQ(table_->counts().late, 0U);
  }
}

}  // namespace
}  // namespace tare::tared

#include "format/rank_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <random>
#include <set>

namespace tare::format {
namespace {

std::set<std::uint32_t> members(const RankSet& ranks) {
  std::set<std::uint32_t> all;
  for (const auto& run : ranks.runs())
    for (std::uint32_t i = 0; i < run.count; ++i) all.insert(run.first + i);
  return all;
}

TEST(RankSet, IsASet) {
  std::mt19937 random(1);
  for (int trial = 0; trial < 300; ++trial) {
    RankSet sets[2];
    std::set<std::uint32_t> expected[2];
    for (int i = 0; i < 2; ++i)
      for (unsigned n = random() % 30; n > 0; --n) {
        const std::uint32_t rank = random() % 40;
        sets[i].insert(rank);
        expected[i].insert(rank);
      }
    std::set<std::uint32_t> both;
    std::set_intersection(expected[0].begin(), expected[0].end(), expected[1].begin(), expected[1].end(),
                          std::inserter(both, both.end()));
    EXPECT_EQ(members(sets[0]), expected[0]);
    EXPECT_EQ(sets[0].size(), expected[0].size());
    EXPECT_EQ(sets[0].overlaps(sets[1]), !both.empty());
    for (std::uint32_t rank = 0; rank < 41; ++rank) EXPECT_EQ(sets[0].contains(rank), expected[0].contains(rank));
    RankSet united = sets[0];
    united.unite(sets[1]);
    std::set<std::uint32_t> all = expected[0];
    all.insert(expected[1].begin(), expected[1].end());
    EXPECT_EQ(members(united), all);
    RankSet removed = sets[0];
    removed.remove(sets[1]);
    for (const std::uint32_t rank : expected[1]) expected[0].erase(rank);
    EXPECT_EQ(members(removed), expected[0]);
    // One set has one form.
    RankSet again;
    for (const std::uint32_t rank : all) again.insert(rank);
    EXPECT_EQ(again, united);
    Bytes bytes;
    Writer out(bytes);
    united.write(out);
    Reader in(bytes);
    RankSet back;
    ASSERT_TRUE(RankSet::read(in, back));
    EXPECT_TRUE(in.at_end());
    EXPECT_EQ(back, united);
  }
}

TEST(RankSet, ReachesTheLastRank) {
  RankSet ranks = RankSet::of_range(0xfffffffe, 2);
  ranks.insert(0xffffffff);
  EXPECT_EQ(ranks.text(), "4294967294-4294967295");
  EXPECT_TRUE(ranks.contains(0xffffffff));
}

TEST(RankSet, IsMadeOfRunsInAnyOrder) {
  EXPECT_EQ(RankSet::of_runs({{7, 2}, {0, 1}, {8, 3}, {1, 2}, {20, 0}, {7, 1}}).text(), "0-2,7-10");
}

TEST(RankSet, OtherBytesAreRefused) {
  const auto is_read = [](std::vector<RankSet::Run> runs, std::uint32_t count) {
    Bytes bytes;
    Writer out(bytes);
    out.put(count);
    out.put_all(runs);
    Reader in(bytes);
    RankSet ranks;
    return RankSet::read(in, ranks);
  };
  EXPECT_TRUE(is_read({{1, 2}, {4, 1}}, 2));
  EXPECT_FALSE(is_read({{1, 2}, {3, 1}}, 2)) << "adjacent";
  EXPECT_FALSE(is_read({{4, 1}, {1, 2}}, 2)) << "descending";
  EXPECT_FALSE(is_read({{4, 0}}, 1)) << "empty";
  EXPECT_TRUE(is_read({{0x7fffffff, 1}}, 1)) << "the last rank";
  EXPECT_FALSE(is_read({{0x7fffffff, 2}}, 1)) << "beyond the last rank";
  EXPECT_FALSE(is_read({{4, 1}}, 2)) << "cut off";
  EXPECT_FALSE(is_read({}, 0xffffffff));
}

}  // namespace
}  // namespace tare::format

#include "reader/model/by_rank.h"

#include <gtest/gtest.h>

#include <vector>

using namespace tare::reader;

TEST(ByRank, HasWhatWasPutThere) {
  ByRank<int> numbers;
  EXPECT_TRUE(numbers.empty());
  numbers.at(0, 5) = 1;
  numbers.at(2, 130) = 2;
  numbers.at(0, 0) = 3;
  ASSERT_NE(numbers.find(0, 5), nullptr);
  EXPECT_EQ(*numbers.find(0, 5), 1);
  EXPECT_EQ(*numbers.find(2, 130), 2);
  EXPECT_EQ(numbers.find(1, 5), nullptr);
  EXPECT_EQ(numbers.find(0, 64), nullptr);
  EXPECT_EQ(numbers.find(3, 0), nullptr);
  std::vector<int> all;
  numbers.each([&](int number) {
    if (number != 0) all.push_back(number);
  });
  EXPECT_EQ(all, (std::vector{3, 1, 2}));
}

TEST(ByRank, DamagedNumbersAreNoRanksAndCostAPage) {
  struct Large {
    char bytes[4096];
  };
  ByRank<Large> large;
  EXPECT_FALSE(can_be_rank(0, -1));
  EXPECT_FALSE(can_be_rank(-1, 0));
  EXPECT_FALSE(can_be_rank(0, rank_limit));
  EXPECT_EQ(large.find(0, INT32_MAX), nullptr);
  EXPECT_EQ(large.find(INT32_MIN, 0), nullptr);
  large.at(0, rank_limit - 1).bytes[0] = 1;  // allocates one page, not 64 GiB
  int there = 0;
  large.each([&](const Large&) { ++there; });
  EXPECT_EQ(there, 64);
}

#include "reader/structure/change_points.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tare::reader {
namespace {

using Indices = std::vector<std::size_t>;

std::vector<Shares> repeated(const std::vector<std::pair<std::size_t, Shares>>& parts) {
  std::vector<Shares> all;
  for (const auto& [count, shares] : parts) all.insert(all.end(), count, shares);
  return all;
}

TEST(ChangePointsTest, WhatDoesNotChangeIsOnePart) {
  EXPECT_EQ(change_points(repeated({{100, {3, 1}}}), 2), Indices{0});
  EXPECT_EQ(change_points({}, 2), Indices{});
}

TEST(ChangePointsTest, PartsBeginWhereSharesChange) {
  const auto sequence = repeated({{10, {1, 0, 0}}, {40, {0, 1, 1}}, {5, {1, 0, 0}}, {45, {0, 1, 1}}});
  EXPECT_EQ(change_points(sequence, 2), (Indices{0, 10, 50, 55}));
}

TEST(ChangePointsTest, APartThatIsShorterThanThePenaltyIsNone) {
  EXPECT_EQ(change_points(repeated({{50, {1, 0}}, {1, {0, 1}}, {50, {1, 0}}}), 2), Indices{0});
}

TEST(ChangePointsTest, TheLengthOfAVectorIsNoChange) {
  EXPECT_EQ(change_points(repeated({{20, {3, 1}}, {20, {300, 100}}}), 2), Indices{0});
}

TEST(ChangePointsTest, DistanceIsThatOfHellinger) {
  EXPECT_DOUBLE_EQ(distance({1, 0}, {0, 5}), 1);
  EXPECT_NEAR(distance({1, 0}, {1, 1}), 1 - std::sqrt(0.5), 1e-12);
  EXPECT_NEAR(distance({2, 6}, {1, 3}), 0, 1e-12);
  EXPECT_EQ(distance({0, 0}, {1, 3}), 0);
}

TEST(ChangePointsTest, PartsThatAreAlikeAreOfOneKind) {
  EXPECT_EQ(kinds({{1, 0, 0}, {0, 1, 1}, {10, 1, 0}, {0, 0, 1}, {0, 11, 10}}, 0.1), (Indices{0, 1, 0, 2, 1}));
}

}  // namespace
}  // namespace tare::reader

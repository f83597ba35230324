#include "tared/boi/point_clock.h"

#include <gtest/gtest.h>

namespace tare::tared {
namespace {

TEST(PointClock, OfTheClockPointsComeAsWasSaid) {
  PointClock points(1000, 50'000);
  EXPECT_TRUE(points.is_known());
  EXPECT_EQ(points.time_of(3), 53'000);
  EXPECT_EQ(points.point_after(53'999), 4U);
  points.add(7, 99'999'999);
  EXPECT_EQ(points.point_ns(), 1000) << "rounds tell nothing else";
}

TEST(PointClock, OfAProgramTheyComeAsTheLastRoundsTell) {
  PointClock points;
  points.add(100, 1'000'000);
  EXPECT_FALSE(points.is_known());
  points.add(110, 1'050'000);
  ASSERT_TRUE(points.is_known());
  EXPECT_EQ(points.point_ns(), 5000);
  EXPECT_EQ(points.time_of(112), 1'060'000);
  EXPECT_EQ(points.time_of(100), 1'000'000);
  EXPECT_EQ(points.point_after(1'061'000), 113U);
  EXPECT_GT(points.point_after(0), 110U) << "what has come is not to come";
}

TEST(PointClock, AProgramThatStopsOnceIsNotSlow) {
  PointClock points;
  std::int64_t now_ns = 0;
  for (std::uint64_t point = 1; point < 50; ++point) {
    now_ns += point == 45 ? 1'000'000 : 100;
    points.add(point, now_ns);
  }
  EXPECT_EQ(points.point_ns(), 100);
}

TEST(PointClock, RoundsThatComeAgainOrAtOnceAreNoPoints) {
  PointClock points;
  points.add(5, 100);
  points.add(5, 300);
  EXPECT_FALSE(points.is_known());
  points.add(6, 100);
  EXPECT_EQ(points.point_ns(), 1) << "no time at all would be no interval";
}

}  // namespace
}  // namespace tare::tared

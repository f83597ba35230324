#include "reader/model/time_map.h"

#include <gtest/gtest.h>

namespace tare::reader {
namespace {

TimeMap map_of(const std::vector<TimeMap::Knot>& knots) {
  TimeMap map;
  for (const TimeMap::Knot& knot : knots) map.add(knot.at_ns, knot.offset_ns);
  return map;
}

TEST(TimeMap, MovesNothingWithoutKnots) {
  EXPECT_EQ(TimeMap()(5), 5);
  EXPECT_EQ(TimeMap().inverse(5), 5);
}

TEST(TimeMap, OffsetsChangeInProportionBetweenKnots) {
  const TimeMap map = map_of({{100, 0}, {200, 50}, {400, 0}});
  EXPECT_EQ(map(50), 50);
  EXPECT_EQ(map(150), 175);
  EXPECT_EQ(map(200), 250);
  EXPECT_EQ(map(300), 325);
  EXPECT_EQ(map(500), 500);
  for (const std::int64_t ns : {50, 100, 150, 200, 300, 400, 500}) EXPECT_EQ(map.inverse(map(ns)), ns);
}

TEST(TimeMap, TakesOutASpan) {
  const TimeMap map = map_of({{100, 0}, {150, -50}});
  EXPECT_EQ(map(100), 100);
  EXPECT_EQ(map(125), 100);
  EXPECT_EQ(map(150), 100);
  EXPECT_EQ(map(160), 110);
  EXPECT_EQ(map.inverse(100), 150);
  EXPECT_EQ(map.inverse(90), 90);
}

TEST(TimeMap, NeverChangesTheOrderOfTimes) {
  const TimeMap map = map_of({{100, 0}, {110, -50}, {105, 3}, {120, -100}});
  for (std::int64_t ns = 90; ns < 150; ++ns) EXPECT_LE(map(ns), map(ns + 1)) << ns;
}

TEST(TimeMap, OneAfterTheOther) {
  const TimeMap first = map_of({{100, 0}, {200, 40}}), second = map_of({{150, 0}, {180, -30}, {300, 10}});
  const TimeMap both = first.then(second);
  for (std::int64_t ns = 80; ns < 400; ++ns) EXPECT_NEAR(static_cast<double>(both(ns)), second(first(ns)), 1) << ns;
}

}  // namespace
}  // namespace tare::reader

#include "reader/model/clock_map.h"

#include <gtest/gtest.h>

namespace tare::reader {
namespace {

constexpr std::uint64_t ms = 1'000'000;

TEST(ClockMap, InterpolatesBetweenPairs) {
  // The rate changes: first two ticks for each nanosecond, then one.
  const ClockMap map({1000, 500}, 10'000, {{1000 + 20 * ms, 500 + 10 * ms}, {1000 + 30 * ms, 500 + 20 * ms}}, 9);
  EXPECT_EQ(map.unix_ns(1000), 10'000);
  EXPECT_EQ(map.unix_ns(1000 + 10 * ms), static_cast<std::int64_t>(10'000 + 5 * ms));
  EXPECT_EQ(map.unix_ns(1000 + 25 * ms), static_cast<std::int64_t>(10'000 + 15 * ms));
  EXPECT_TRUE(map.is_measured());
  EXPECT_EQ(map.duration_ns(30), 20);
}

TEST(ClockMap, ExtrapolatesWithTheRateOfAll) {
  const ClockMap map({10 * ms, 0}, 0, {{30 * ms, 10 * ms}}, 9);
  EXPECT_EQ(map.unix_ns(50 * ms), static_cast<std::int64_t>(20 * ms));
  EXPECT_EQ(map.unix_ns(8 * ms), -static_cast<std::int64_t>(ms));
}

TEST(ClockMap, OnePairTakesTheDefaultRate) {
  const ClockMap map({1000, 1000}, 5000, {{1000, 1000}}, 0.5);
  EXPECT_FALSE(map.is_measured());
  EXPECT_EQ(map.unix_ns(3000), 6000);
}

TEST(ClockMap, DamagedPairsAreIgnored) {
  const ClockMap map({1000, 1000}, 1000, {{UINT64_MAX, 0}, {5000, UINT64_MAX}, {0, 7}, {2000, 1001}}, 1);
  EXPECT_FALSE(map.is_measured());
  EXPECT_EQ(map.unix_ns(2000), 2000);
}

TEST(ClockMap, TheClockOfThisMachineRuns) {
  const auto first = read_clock(format::ClockKind::monotonic_raw);
  const auto second = read_clock(format::ClockKind::monotonic_raw);
  EXPECT_GE(second.ticks, first.ticks);
  EXPECT_EQ(first.ticks, first.monotonic_ns);
}

}  // namespace
}  // namespace tare::reader

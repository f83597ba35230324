#include "reader/model/weight.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace tare::reader {
namespace {

using format::WeighedCalls;

void weigh(WeighedCalls& to, std::uint64_t ticks) {
  ++to.calls;
  to.ticks += ticks;
  to.ticks_squared += static_cast<double>(ticks * ticks);
}

TEST(Weight, EachKindHasItsOwnMean) {
  WeighedTotals totals;
  totals.calls[1] = 1000;
  totals.calls[2] = 10;
  for (int i = 0; i < 4; ++i) weigh(totals.weighed[1], 50);
  for (int i = 0; i < 2; ++i) weigh(totals.weighed[2], 2000);
  const Weight weight = weight_of(totals);
  EXPECT_DOUBLE_EQ(weight.ticks, 1000 * 50 + 10 * 2000);
  EXPECT_DOUBLE_EQ(weight.half_width, 0);
  EXPECT_EQ(weight.weighed, 6U);
  EXPECT_DOUBLE_EQ(weight.timed_call, 70000.0 / 1010);
}

TEST(Weight, FirstCallsCountAsTheyAre) {
  WeighedTotals totals;
  totals.calls[1] = 102;
  totals.weighed[1].first_calls = 2;
  totals.weighed[1].first_ticks = 9000;
  for (int i = 0; i < 5; ++i) weigh(totals.weighed[1], 40);
  EXPECT_DOUBLE_EQ(weight_of(totals).ticks, 9000 + 100 * 40);
}

TEST(Weight, AllThatThereIsWasWeighed) {
  WeighedTotals totals;
  totals.calls[1] = 3;
  totals.weighed[1].first_calls = 3;
  totals.weighed[1].first_ticks = 600;
  const Weight weight = weight_of(totals);
  EXPECT_DOUBLE_EQ(weight.ticks, 600);
  EXPECT_DOUBLE_EQ(weight.half_width, 0);
}

TEST(Weight, TooFewForAnInterval) {
  WeighedTotals totals;
  totals.calls[1] = 100;
  totals.weighed[1].first_calls = 32;
  totals.weighed[1].first_ticks = 3200;
  const Weight weight = weight_of(totals);
  EXPECT_DOUBLE_EQ(weight.ticks, 10000);
  EXPECT_TRUE(std::isnan(weight.half_width));
}

TEST(Weight, NothingWasCalled) {
  const Weight weight = weight_of({});
  EXPECT_DOUBLE_EQ(weight.ticks, 0);
  EXPECT_DOUBLE_EQ(weight.half_width, 0);
}

TEST(Weight, PollsThatAreNotTimedAreNoTimedCalls) {
  WeighedTotals totals;
  totals.calls[1] = 10;
  totals.calls[format::untimed] = 990;
  for (int i = 0; i < 2; ++i) weigh(totals.weighed[1], 40);
  for (int i = 0; i < 2; ++i) weigh(totals.weighed[format::untimed], 4);
  const Weight weight = weight_of(totals);
  EXPECT_DOUBLE_EQ(weight.ticks, 400 + 3960);
  EXPECT_DOUBLE_EQ(weight.timed_call, 40);
  EXPECT_DOUBLE_EQ(weight.call, 4.36);
}

// The costs of calls are skewed: most calls are cheap, a few walk the stack.
TEST(Weight, IntervalsCoverTheTruth) {
  std::mt19937_64 random(7);
  std::lognormal_distribution<double> cheap(4, 0.5);
  std::lognormal_distribution<double> dear(6, 1);
  int covered = 0;
  constexpr int trials = 400;
  for (int trial = 0; trial < trials; ++trial) {
    WeighedTotals totals;
    double truth = 0;
    for (int call = 0; call < 40'000; ++call) {
      const unsigned kind = call % 10 == 0 ? 2 : 1;
      const auto ticks = static_cast<std::uint64_t>(kind == 2 ? dear(random) : cheap(random));
      truth += static_cast<double>(ticks);
      ++totals.calls[kind];
      if (random() % 256 == 0) weigh(totals.weighed[kind], ticks);
    }
    const Weight weight = weight_of(totals);
    covered += std::abs(weight.ticks - truth) <= weight.half_width ? 1 : 0;
  }
  EXPECT_GT(covered, trials * 85 / 100);
  EXPECT_LT(covered, trials);
}

TEST(Weight, ADamagedKindIsLeftOut) {
  WeighedTotals totals;
  WeighedCalls odd{};
  odd.kind = 4'000'000;
  odd.calls = 7;
  totals.add(odd);
  EXPECT_EQ(weight_of(totals).weighed, 0U);
}

}  // namespace
}  // namespace tare::reader

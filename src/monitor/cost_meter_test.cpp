#include "monitor/cost_meter.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tare::monitor {
namespace {

TEST(Running, HasMeanAndDeviation) {
  Running running;
  for (const double value : {2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0}) running.add(value);
  EXPECT_DOUBLE_EQ(running.mean(), 5);
  EXPECT_DOUBLE_EQ(running.deviation(), std::sqrt(32.0 / 7));
}

TEST(CostMeter, NothingIsKnownBeforeAnOffload) {
  CostMeter meter;
  meter.point(10, false);
  CostMeter::Costs costs;
  EXPECT_FALSE(meter.costs(costs));
}

// Each third iteration has an offload and is 7 longer; all become longer and longer.
TEST(CostMeter, AnIterationIsComparedWithTheOneBefore) {
  CostMeter meter;
  std::uint64_t ticks = 1000;
  for (std::uint64_t i = 0; i < 300; ++i) {
    const bool offloads = i % 3 == 2;
    meter.point(ticks, offloads);
    if (offloads) meter.offloaded(5);
    ticks += 100 + i + (offloads ? 7 : 0);
  }
  CostMeter::Costs costs;
  ASSERT_TRUE(meter.costs(costs));
  EXPECT_EQ(costs.offloads, 100U);
  EXPECT_DOUBLE_EQ(costs.direct, 5);
  EXPECT_GE(costs.comparisons, 98U);
  EXPECT_DOUBLE_EQ(costs.overall, 8) << "7, and 1 that iterations become longer by";
  meter.reset();
  EXPECT_FALSE(meter.costs(costs));
}

TEST(CostMeter, WhereEachPointIsAnOffloadThereIsNothingToCompareWith) {
  CostMeter meter;
  for (std::uint64_t i = 1; i < 50; ++i) {
    meter.point(100 * i, true);
    meter.offloaded(5);
  }
  CostMeter::Costs costs;
  ASSERT_TRUE(meter.costs(costs));
  EXPECT_EQ(costs.comparisons, 0U);
}

}  // namespace
}  // namespace tare::monitor

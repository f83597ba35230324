#include "monitor/cadence.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tare::monitor {
namespace {

using format::SpotSource;

format::SweetSpots known() {
  format::SweetSpots spots;
  spots.count = 2;
  spots.events = 64;
  spots.of[0] = {16, 0, SpotSource::measured, 0, 1e6, 1e5, 2e6, 0, 3e6, 1e3, 100};
  spots.of[1] = {64, 1, SpotSource::cached, 0, 4e6, 4e5, 8e6, 2e3, -1, -1, 400};
  return spots;
}

TEST(Sizes, ASizeThatWasMeasuredIsToldAsItIs) {
  EXPECT_EQ(spot_of(known(), 16).boi_ns, 1e6);
  EXPECT_EQ(spot_of(known(), 16).delay_ns, 3e6);
  EXPECT_EQ(spot_of(known(), 0).events, 64U);
  EXPECT_EQ(spot_of(known(), 0).boi_ns, 4e6);
  EXPECT_EQ(spot_of(known(), 16).source, SpotSource::measured);
  EXPECT_EQ(spot_of(known(), 0).source, SpotSource::cached);
}

TEST(Sizes, BetweenThemTimesGrowByPowersOfTheSize) {
  const format::SweetSpot spot = spot_of(known(), 32);
  EXPECT_EQ(spot.events, 32U);
  EXPECT_EQ(spot.is_bound, 1U);
  EXPECT_EQ(spot.source, SpotSource::interpolated);
  EXPECT_NEAR(spot.boi_ns, 2e6, 1);
  EXPECT_NEAR(spot.rest_ns, 4e6, 1);
  EXPECT_NEAR(spot.direct_ns, 200, 1e-3);
  EXPECT_NEAR(spot.rest_deviation_ns, 1e3, 1) << "of nothing there is no logarithm";
  EXPECT_LT(spot.delay_ns, 0) << "one of both is not known";
}

TEST(Sizes, OneOfWhichOnlyTheDelayIsKnownIsBetweenOthers) {
  format::SweetSpots spots = known();
  spots.of[2] = spots.of[1];
  spots.of[1] = {32, 0, SpotSource::unknown, 0, -1, -1, -1, -1, 5e6, 6e3};
  spots.count = 3;
  const format::SweetSpot spot = spot_of(spots, 32);
  EXPECT_NEAR(spot.boi_ns, 2e6, 1);
  EXPECT_EQ(spot.source, SpotSource::interpolated);
  EXPECT_EQ(spot.delay_ns, 5e6);
  EXPECT_EQ(spot.delay_deviation_ns, 6e3);
  EXPECT_NEAR(spot_of(spots, 40).boi_ns, 1e6 * std::pow(4, std::log(2.5) / std::log(4)), 1) << "it is left out";
  spots.count = 2;
  EXPECT_LT(spot_of(spots, 32).boi_ns, 0);
  EXPECT_EQ(spot_of(spots, 32).source, SpotSource::unknown);
  EXPECT_EQ(spot_of(spots, 32).delay_ns, 5e6);
}

TEST(Sizes, BeyondThemNothingIsKnown) {
  for (const std::uint32_t events : {1U, 15U, 65U, 4'000'000'000U}) {
    EXPECT_EQ(spot_of(known(), events).events, events);
    EXPECT_LT(spot_of(known(), events).boi_ns, 0);
    EXPECT_EQ(spot_of(known(), events).source, SpotSource::unknown);
  }
  EXPECT_LT(spot_of(format::SweetSpots{}, 0).boi_ns, 0);
  EXPECT_LT(spot_of(format::SweetSpots{}, 5).rest_ns, 0);
}

TEST(Sizes, WhatMakesNoSenseIsNotFollowed) {
  format::SweetSpots spots = known();
  spots.count = UINT32_MAX;
  EXPECT_FALSE(std::isnan(spot_of(spots, 40).boi_ns));
  spots.of[0].events = 0;
  EXPECT_LT(spot_of(spots, 40).boi_ns, 0);
}

}  // namespace
}  // namespace tare::monitor

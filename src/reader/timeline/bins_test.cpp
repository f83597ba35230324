#include "reader/timeline/bins.h"

#include <gtest/gtest.h>

namespace tare::reader {
namespace {

constexpr std::uint16_t f = 3, g = 4;

std::vector<Bin> filled(std::size_t count, auto fill) {
  std::vector<Bin> bins(count);
  BinFiller filler({1000, 2000, count}, bins.data(), 10);
  fill(filler);
  filler.finish();
  return bins;
}
double share(const Bin& bin, Activity activity) {
  return static_cast<double>(bin.share[static_cast<std::size_t>(activity)]) / Bin::whole;
}
double function_share(const Bin& bin) { return static_cast<double>(bin.function_share) / Bin::whole; }

TEST(Bins, ACallSharesTheBinsThatItTouches) {
  const auto bins = filled(10, [](BinFiller& of) { of.add_call(1050, 1320, Activity::wait, f); });
  EXPECT_NEAR(share(bins[0], Activity::wait), 0.5, 1e-4);
  EXPECT_NEAR(share(bins[1], Activity::wait), 1, 1e-4);
  EXPECT_NEAR(share(bins[2], Activity::wait), 1, 1e-4);
  EXPECT_NEAR(share(bins[3], Activity::wait), 0.2, 1e-4);
  EXPECT_EQ(bins[3].function, f);
  EXPECT_NEAR(function_share(bins[0]), 0.5, 1e-4);
  EXPECT_NEAR(function_share(bins[1]), 1, 1e-4);
  EXPECT_NEAR(function_share(bins[3]), 0.2, 1e-4);
  EXPECT_EQ(share(bins[4], Activity::wait), 0);
  EXPECT_EQ(function_share(bins[4]), 0);
  EXPECT_EQ(bins[4].function, Bin::no_function);
}

TEST(Bins, TheFunctionWithTheMostTimeStandsForABin) {
  const auto bins = filled(1, [](BinFiller& of) {
    of.add_call(1000, 1200, Activity::send, f);
    of.add_call(1300, 1600, Activity::wait, g);
    of.add_call(1600, 1700, Activity::send, f);
    of.add_call(1800, 1850, Activity::send, f);
  });
  EXPECT_EQ(bins[0].function, f);
  EXPECT_NEAR(function_share(bins[0]), 0.35, 1e-4);
  EXPECT_NEAR(share(bins[0], Activity::send), 0.35, 1e-4);
  EXPECT_NEAR(share(bins[0], Activity::wait), 0.3, 1e-4);
}

TEST(Bins, WhatLiesOutsideOrBackwardsDoesNoHarm) {
  const auto bins = filled(4, [](BinFiller& of) {
    of.add_call(-5000, 500, Activity::send, f);
    of.add_call(900, 1100, Activity::send, f);
    of.add_call(1050, 1150, Activity::send, f);  // overlaps
    of.add_call(1900, 9000, Activity::wait, g);
    of.add_call(INT64_MAX - 1, INT64_MAX, Activity::wait, g);
    of.add_call(1000, 1010, Activity::wait, 999);  // an unknown function, in the past
    of.add_flush(1990, 2500);
  });
  EXPECT_NEAR(share(bins[0], Activity::send), 0.6, 1e-4);
  EXPECT_NEAR(share(bins[3], Activity::wait), 0.4, 1e-4);
  EXPECT_NEAR(share(bins[3], Activity::flush), 0.04, 1e-4);
}

TEST(Bins, CoarserOnesHaveTheSameSums) {
  std::vector<Bin> fine = filled(64, [](BinFiller& of) {
    for (std::int64_t at = 1000; at < 2000; at += 30) of.add_call(at, at + 11, Activity::collective, f);
  });
  const auto coarse = coarser(fine, 4);
  ASSERT_EQ(coarse.size(), 16);
  double of_fine = 0, of_coarse = 0;
  for (const Bin& bin : fine) of_fine += share(bin, Activity::collective) / 64;
  for (const Bin& bin : coarse) of_coarse += share(bin, Activity::collective) / 16;
  EXPECT_NEAR(of_fine, of_coarse, 1e-4);
  EXPECT_NEAR(of_fine, 34 * 11 / 1000.0, 1e-3);
  EXPECT_EQ(coarse[0].function, f);
}

TEST(Bins, TheFunctionOfACoarserBinIsThatOfMostTime) {
  std::vector<Bin> fine = filled(4, [](BinFiller& of) {
    of.add_call(1000, 1200, Activity::send, f);  // 0.8 of the first bin
    of.add_call(1250, 1350, Activity::wait, g);  // 0.4 of the second and of the third
    of.add_call(1500, 1600, Activity::wait, g);
  });
  const auto coarse = coarser(fine, 4);
  ASSERT_EQ(coarse.size(), 1);
  EXPECT_EQ(coarse[0].function, f);
  EXPECT_NEAR(function_share(coarse[0]), 0.2, 1e-4);
  EXPECT_NEAR(share(coarse[0], Activity::wait), 0.2, 1e-4);
  // The last bin may have fewer parts.
  const auto uneven = coarser(fine, 3);
  ASSERT_EQ(uneven.size(), 2);
  EXPECT_NEAR(function_share(uneven[0]), 0.8 / 3, 1e-4);
  EXPECT_EQ(uneven[1].function, Bin::no_function);
}

}  // namespace
}  // namespace tare::reader

#include "recorder/rhythm.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>

namespace tare::recorder {
namespace {

struct Call {
  std::uintptr_t site;
  double ns;
};

// Of calls whose times vary by some percent, and of which each twentieth is interrupted.
std::uint64_t period_of(const std::function<Call(unsigned)>& call) {
  static std::mt19937_64 chance(1);
  std::lognormal_distribution<double> noise(0, 0.05);
  static Rhythm rhythm;
  rhythm = {};
  double now = 1e9;
  for (unsigned i = 0; i < 6000; ++i) {
    const auto [site, ns] = call(i);
    now += ns * noise(chance) + (chance() % 20 == 0 ? 3e6 : 0);
    rhythm.add(site, i, static_cast<std::uint64_t>(now));
    rhythm.add(0, i, static_cast<std::uint64_t>(now) + 50);  // the same tick
  }
  return rhythm.period();
}

TEST(RhythmTest, CallsOfOneKindRepeatAtOnce) {
  EXPECT_EQ(period_of([](unsigned) { return Call{0x1234, 900}; }), 1);
}

TEST(RhythmTest, TimesTellThePeriodOfCallsOfOneSite) {
  EXPECT_EQ(period_of([](unsigned i) { return Call{0x1234, i % 12 == 0 ? 9e6 : 2000}; }), 12);
}

TEST(RhythmTest, SitesTellIt) {
  EXPECT_EQ(period_of([](unsigned i) { return Call{0x1234 + i % 7 / 5, 3000}; }), 7);
}

TEST(RhythmTest, AShortPeriodIsTakenThoughALongerOneFitsBetter) {
  const auto call = [](unsigned i) { return Call{i % 120 == 0 ? 0x99U : 0x1234U, i % 6 == 0 ? 9e6 : 2000}; };
  EXPECT_EQ(period_of(call), 6);
}

TEST(RhythmTest, WhatDoesNotRepeatHasNone) {
  std::mt19937_64 chance(2);
  EXPECT_EQ(period_of([&](unsigned) {
              return Call{chance() % 16, 1000 * static_cast<double>(1 + chance() % 100)};
            }),
            0);
}

TEST(RhythmTest, PlacesTellItWhereTimesVaryWidely) {
  std::mt19937_64 chance(3);
  EXPECT_EQ(period_of([&](unsigned i) {
              return Call{0x1234 + i % 12, 1000 * static_cast<double>(1 + chance() % 100)};
            }),
            12);
}

TEST(RhythmTest, WithoutCallsThereIsNone) {
  static Rhythm rhythm;
  EXPECT_EQ(rhythm.period(), 0);
}

}  // namespace
}  // namespace tare::recorder

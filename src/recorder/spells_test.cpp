#include "recorder/spells.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "recorder/location.h"

namespace tare::recorder {
namespace {

struct SpellsTest : testing::Test {
  SpellsTest() {
    choose_clock();
    location.shared = shared.get();
  }

  // Whether the spells measure that `count` synchronisation points begin, one after another.
  std::vector<bool> kinds(Spells& trial, unsigned count) {
    std::vector<bool> found;
    for (unsigned i = 0; i < count; ++i) {
      trial.pass(location, 1, now());
      found.push_back(!location.counts_only);
    }
    return found;
  }

  std::unique_ptr<format::LocationHeader> shared = std::make_unique<format::LocationHeader>();
  Location location{};
};

TEST_F(SpellsTest, WithoutAShareThereIsNone) {
  for (const char* share : {static_cast<const char*>(nullptr), "", "0", "1", "-0.5", "2", "nan", "x"}) {
    Spells trial;
    trial.begin(share, nullptr, "run");
    EXPECT_FALSE(trial.are_asked()) << (share == nullptr ? "null" : share);
  }
}

TEST_F(SpellsTest, RanksOfARunDecideAlikeAndOtherRunsOtherwise) {
  Spells first;
  Spells second;
  Spells other;
  first.begin("0.5", nullptr, "0123456789abcdef");
  second.begin("0.5", nullptr, "0123456789abcdef");
  other.begin("0.5", nullptr, "0123456789abcdee");
  const std::vector<bool> found = kinds(first, 400);
  EXPECT_EQ(found, kinds(second, 400));
  EXPECT_NE(found, kinds(other, 400));
}

TEST_F(SpellsTest, TheShareOfSpellsDoesNotMeasure) {
  for (const double share : {0.05, 0.25, 0.5, 0.95}) {
    Spells trial;
    trial.begin(std::to_string(share).c_str(), nullptr, "run");
    unsigned unmeasured = 0;
    constexpr unsigned count = 500;  // of one synchronisation point each
    for (const bool measured : kinds(trial, count)) unmeasured += measured ? 0 : 1;
    // Four standard deviations.
    EXPECT_NEAR(unmeasured, share * count, 4 * std::sqrt(count * share * (1 - share)));
  }
}

// With a budget a share of the spells are controls, which are the trial's and not the governor's.
TEST_F(SpellsTest, ABudgetAndATrialGoTogether) {
  Spells both;
  both.begin("0.25", "0.5", "run");
  EXPECT_TRUE(both.has_budget());
  unsigned counted = 0;
  constexpr unsigned count = 500;  // of one synchronisation point each, without calls: the budget affords all of them
  for (const bool measured : kinds(both, count)) counted += measured ? 0 : 1;
  EXPECT_NEAR(counted, 0.25 * count, 4 * std::sqrt(count * 0.25 * 0.75));
}

TEST_F(SpellsTest, SpellsGrowWithTheRun) {
  Spells trial;
  trial.begin("0.5", nullptr, "run");
  unsigned changes = 0;
  const std::vector<bool> found = kinds(trial, 1'000'000);
  for (std::size_t i = 1; i < found.size(); ++i) changes += found[i] != found[i - 1] ? 1 : 0;
  // Half of the 512 * (1 + ln(1e6 / 512)) spells differ from the one before.
  EXPECT_NEAR(changes, 2200, 200);
}

// Whether calls within a spell are measured makes no difference to where it ends.
TEST_F(SpellsTest, CallsThatAreOnlyCountedPass) {
  Spells trial;
  Spells same;
  trial.begin("0.5", nullptr, "run");
  same.begin("0.5", nullptr, "run");
  std::vector<bool> found;
  for (int i = 0; i < 5000; ++i) {
    if (trial.end_with_next())
      trial.pass(location, 1, now());
    else
      trial.pass_silently(location);
    found.push_back(!location.counts_only);
  }
  location.counts_only = false;
  EXPECT_EQ(found, kinds(same, 5000));
}

TEST_F(SpellsTest, OtherThreadsDoNotPass) {
  Spells trial;
  trial.begin("0.95", nullptr, "run");
  shared->block = 1;
  for (const bool measured : kinds(trial, 100)) EXPECT_TRUE(measured);
}

TEST_F(SpellsTest, WhatTheProgramNamesCountsAlone) {
  Spells trial;
  Spells same;
  trial.begin("0.5", nullptr, "run");
  same.begin("0.5", nullptr, "run");
  trial.progress(location);
  std::vector<bool> found{!location.counts_only};
  for (int i = 0; i < 99; ++i) {
    trial.pass(location, 1, now());
    trial.progress(location);
    found.push_back(!location.counts_only);
  }
  EXPECT_EQ(found, kinds(same, 100));
}

}  // namespace
}  // namespace tare::recorder

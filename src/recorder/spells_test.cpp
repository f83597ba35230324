#include "recorder/spells.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "recorder/here.h"
#include "recorder/node_words.h"
#include "recorder/system.h"
#include "recorder/testing/made_location.h"
#include "recorder/testing/recorded_run.h"

namespace tare::recorder {
namespace {

struct SpellsTest : testing::Test {
  SpellsTest() { choose_clock(); }
  ~SpellsTest() override {
    TimedSpells& timed = node_words->timed;
    timed.ranks = timed.quiet = timed.writers = 0;
    timed.begin = 0;
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

  MadeLocation made;
  Location& location = made.location;
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
  location.shared().block = 1;
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

// The share of spells that are traced, of a run whose trace has used that part of its bytes.
double traced_share(double used_bytes) {
  constexpr format::RingShape ring{2, 4096, format::Policy::block};
  constexpr std::uint64_t buffered = ring.count * ring.bytes / 8;  // what the buffer will take on disk
  constexpr unsigned count = 500;
  MadeLocation made{64, ring};
  Location& location = made.location;
  location.events.open_sub_buffer(0);
  location.shared().summary.flush_bytes = static_cast<std::uint64_t>(used_bytes * 1'000'000) - buffered;
  Spells budget;
  budget.begin(nullptr, "0.5,1000000", "run");
  unsigned traced = 0;
  for (unsigned i = 0; i < count; ++i) {
    budget.pass(location, 1, now());
    traced += location.traced() ? 1 : 0;
  }
  return static_cast<double>(traced) / count;
}

TEST_F(SpellsTest, BehindHalfOfItsBytesTheTraceBecomesThinner) {
  for (const auto& [used, share] :
       {std::pair{0.2, 1.0}, {0.5, 1.0}, {0.6, 0.8}, {0.75, 0.5}, {0.95, 0.1}, {0.985, 0.0}})
    EXPECT_NEAR(traced_share(used), share, share == 1 || share == 0 ? 0.005 : 0.06) << used;
}

// Makes calls of iterations of 6, without a synchronisation point, until `ms` milliseconds have passed. Returns how
// many had been made whenever the thread began to measure or to only count.
std::vector<std::uint64_t> turns_within(Spells& trial, Location& location, unsigned ms) {
  std::vector<std::uint64_t> turns;
  const std::uint64_t end = read_ns(CLOCK_MONOTONIC) + ms * 1'000'000ULL;
  for (unsigned i = 0; read_ns(CLOCK_MONOTONIC) < end; ++i) {
    const std::uint64_t longer = read_ns(CLOCK_MONOTONIC) + (i % 6 == 0 ? 40'000 : 2'000);
    while (read_ns(CLOCK_MONOTONIC) < longer) {
    }
    const bool counted = location.counts_only;
    location.shared().current.site = 1 + i % 6 / 2;
    if (counted)
      location.count_only(1);
    else
      location.begin_weighing();
    if (counted ? --location.until_check < 0 : now() >= trial.look_due(location)) trial.look(location, now());
    if (counted != location.counts_only) turns.push_back(location.calls_made());
  }
  return turns;
}

TEST_F(SpellsTest, WithoutSynchronisationPointsSpellsAreTimed) {
  Spells trial;
  trial.begin("0.5", nullptr, "run");
  const std::vector<std::uint64_t> turns = turns_within(trial, location, 2000);
  EXPECT_GT(turns.size(), 20) << "of some 100 spells";
  unsigned elsewhere = 0;
  for (const std::uint64_t turn : turns) elsewhere += (turn - turns.front()) % 6 != 0 ? 1U : 0U;
  EXPECT_EQ(elsewhere, 0) << "of " << turns.size();
  EXPECT_FALSE(trial.end_with_next());
}

// A rank polls, and another has no processor for as long.
TEST_F(SpellsTest, OneRankAloneHasNoTimedSpells) {
  Spells trial;
  trial.begin("0.5", nullptr, "run");
  node_words->timed.ranks = 1;
  EXPECT_EQ(turns_within(trial, location, 1500), std::vector<std::uint64_t>{});
  EXPECT_EQ(node_words->timed.ranks, 2U);
  EXPECT_EQ(node_words->timed.quiet, 1U);
  trial.pass(location, 1, now());
  EXPECT_EQ(node_words->timed.quiet, 0U);
  EXPECT_TRUE(trial.end_with_next()) << "spells of synchronisation points go on";
  node_words->timed.quiet = 1;  // the other one passes none either
  EXPECT_GT(turns_within(trial, location, 2000).size(), 5U);
  EXPECT_FALSE(trial.end_with_next());
}

TEST_F(SpellsTest, SynchronisationPointsThatFollowOneAnotherEndSpells) {
  Spells trial;
  trial.begin("0.5", nullptr, "run");
  for (unsigned i = 0; i < 30; ++i) {
    turns_within(trial, location, 20);
    trial.pass(location, 1, now());
  }
  EXPECT_EQ(node_words->timed.writers, 0U);
  EXPECT_TRUE(trial.end_with_next());
}

class RecordedSpells : public RecordedRun {};

// A program goes through a synchronisation point again while it is found out where it repeats.
TEST_F(RecordedSpells, EachIsWrittenOnce) {
  const auto program = [] {
    Location& location = *here();
    for (int time = 0; time < 3; ++time) {
      spells.pass(location, 1, now());
      for (int call = 0; call < 400; ++call) {  // too few to see that they repeat
        usleep(1000);
        location.begin_weighing();
        spells.look(location, now());
      }
    }
    for (int time = 0; time < 3; ++time) spells.pass(location, 1, now());
  };
  const std::vector<std::uint32_t> written = record(program, nullptr, {{"TARE_BUDGET", "0.5"}}).spells;
  EXPECT_GE(written.size(), 5U);
  EXPECT_TRUE(std::is_sorted(written.begin(), written.end(), std::less_equal<>())) << testing::PrintToString(written);
}

}  // namespace
}  // namespace tare::recorder

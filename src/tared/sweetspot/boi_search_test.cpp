// Tests the search with simulated trees, whose BOI is known.
#include "tared/boi/boi_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "tared/sweetspot/experiment.h"

namespace tare::tared {
namespace {

// A pipeline of stages, each of which serves one round at a time. The BOI is the time of the slowest stage.
class Pipeline {
 public:
  Pipeline(std::vector<double> stages_ns, double noise) : stages_(std::move(stages_ns)), noise_(noise) {}
  Burst burst(double interval_ns, std::uint32_t rounds) {
    Burst burst{interval_ns, {}, {}};
    std::vector<double> free(stages_.size(), 0);
    for (std::uint32_t round = 0; round < rounds; ++round) {
      const double offloaded = round * interval_ns;
      double at = offloaded;
      for (std::size_t i = 0; i < stages_.size(); ++i) {
        const double factor = std::max(0.0, 1 + noise_ * normal_(random_));
        at = free[i] = std::max(at, free[i]) + stages_[i] * factor;
      }
      burst.delays_ns.push_back(at - offloaded);
      burst.arrivals_ns.push_back(at);
    }
    return burst;
  }
  Spread rest() {
    std::vector<double> delays;
    for (int i = 0; i < 20; ++i) delays.push_back(burst(0, 1).delays_ns.front());
    return spread_of(delays);
  }
  double boi() const { return *std::ranges::max_element(stages_); }
  double search(Rule rule, double low = 0) {
    SearchSettings settings;
    settings.rule = rule;
    BoiSearch search(rest(), low, settings);
    while (!search.is_done()) search.add(burst(search.interval_ns(), settings.rounds));
    return search.boi_ns();
  }

 private:
  std::vector<double> stages_;
  double noise_;
  std::mt19937 random_{1};
  std::normal_distribution<double> normal_;
};

TEST(BoiSearch, FindsTheSlowestStage) {
  for (const auto& stages : {std::vector{1e6}, {1e6, 3e6, 1e6}, {2e6, 2e6, 2e6, 2e6}, {5e5, 4e6}}) {
    Pipeline tree(stages, 0.02);
    std::vector<double> found;
    for (int trial = 0; trial < 3; ++trial) found.push_back(tree.search(Rule::guarded));
    EXPECT_NEAR(median_of(found), tree.boi(), 0.1 * tree.boi());
  }
}

TEST(BoiSearch, PrintedIsThePapers) {
  // A little noise is needed: with restSD = 0, the search ends only at its limit of steps.
  Pipeline tree({1e6, 3e6, 1e6}, 0.01);
  EXPECT_NEAR(tree.search(Rule::printed), tree.boi(), 0.1 * tree.boi());
  SearchSettings settings;
  settings.rule = Rule::printed;
  const Spread rest{10, 1};
  BoiSearch search(rest, 4, settings);
  EXPECT_EQ(search.interval_ns(), 10);
  EXPECT_EQ(search.threshold_ns(), 12);
  EXPECT_EQ(search.error_ns(), 2);
  search.add({10, {10, 10}, {0, 10}});  // no growth: the lower half
  EXPECT_EQ(search.interval_ns(), 7);
  search.add({7, {13, 15}, {0, 9}});  // growth 2, mean 14: the upper half
  EXPECT_EQ(search.interval_ns(), 8.5);
  EXPECT_FALSE(search.is_done());
  search.add({8.5, {11, 13}, {0, 9}});  // growth 2, mean 12, which is not above the threshold
  EXPECT_TRUE(search.is_done()) << "8.5 - 7 < 2";
  EXPECT_EQ(search.boi_ns(), 7.75);
}

// The delay is long from the first round on and does not grow, so the printed rule accepts the interval.
TEST(BoiSearch, ASaturatedTreeIsRecognised) {
  Burst burst{1e6, {}, {}};
  for (int i = 0; i < 20; ++i) {
    burst.delays_ns.push_back(515e6);
    burst.arrivals_ns.push_back(1e6 * i);
  }
  const Verdict verdict = judge(burst, {4e6, 1e5}, {});
  EXPECT_FALSE(verdict.is_saturated(Rule::printed));
  EXPECT_TRUE(verdict.is_saturated(Rule::guarded));
}

TEST(BoiSearch, ANodeThatIsBusierThanItsDelayIsFound) {
  // Two stages share a processor. At rest, a round takes 1 ms, but the processor is free for the next round only after
  // 2.
  class Shared {
   public:
    static Burst burst(double interval, std::uint32_t rounds) {
      Burst burst{interval, {}, {}};
      double free = 0;
      for (std::uint32_t round = 0; round < rounds; ++round) {
        const double begin = std::max(round * interval, free);
        free = begin + 2e6;
        burst.delays_ns.push_back(begin + 1e6 - round * interval);
        burst.arrivals_ns.push_back(begin + 1e6);
      }
      return burst;
    }
  };
  BoiSearch search({1e6, 1e4}, 0, {});
  while (!search.is_done()) search.add(Shared::burst(search.interval_ns(), 20));
  EXPECT_NEAR(search.boi_ns(), 2e6, 2e5);
}

// In a tree with buffers, the search may accept an interval that is too short. The confirmation corrects it.
TEST(Confirmation, FindsTheTruthFromBothSides) {
  for (const double noise : {0.0, 0.05, 0.3})
    for (const double guess : {0.5e6, 1.3e6, 1.5e6, 2e6, 3e6}) {
      Pipeline tree({1e6, 1.5e6, 0.5e6}, noise);
      Confirmation confirmation(guess);
      while (!confirmation.is_done()) confirmation.add(tree.burst(confirmation.interval_ns(), confirmation.rounds()));
      EXPECT_TRUE(confirmation.is_confirmed()) << guess << ' ' << noise;
      EXPECT_NEAR(confirmation.boi_ns(), tree.boi(), 0.1 * tree.boi()) << guess << ' ' << noise;
    }
}

// A tree that becomes slower when rounds are sent too quickly.
TEST(Confirmation, ATreeThatIsSlowerWhenItIsSaturated) {
  constexpr double saturated = 1e6;
  for (const double sustained : {0.95e6, 0.87e6, 0.81e6, 0.79e6, 0.7e6, 0.6e6}) {
    Confirmation confirmation(saturated);
    while (!confirmation.is_done()) {
      Burst burst{confirmation.interval_ns(), {}, {}};
      const double pace = burst.interval_ns >= sustained ? burst.interval_ns : saturated;
      for (int i = 0; i < 100; ++i) burst.arrivals_ns.push_back(pace * i);
      confirmation.add(burst);
      ASSERT_LE(confirmation.steps().size(), 10U);
    }
    EXPECT_NEAR(confirmation.boi_ns(), sustained, 0.06 * sustained) << sustained;
  }
}

TEST(Confirmation, AnotherProgramForAWhileIsNoPace) {
  Burst burst{1e6, {}, {}};
  double at = 0;
  for (int i = 0; i < 200; ++i) {
    at += i == 90 ? 50e6 : 1e6;  // another program runs for 50 ms
    burst.arrivals_ns.push_back(at);
  }
  EXPECT_NEAR(typical_arrival_interval(burst), 1e6, 1e3);
  burst.arrivals_ns.resize(10);
  EXPECT_EQ(typical_arrival_interval(burst), 0);
}

TEST(Confirmation, WhatNeverSettlesIsNotConfirmed) {
  Confirmation confirmation(1e6);
  int number = 0;
  while (!confirmation.is_done()) {
    Burst burst{confirmation.interval_ns(), {}, {}};
    const double pace = ++number % 2 == 0 ? 1e6 : 3e6;
    for (int i = 0; i < 100; ++i) burst.arrivals_ns.push_back(pace * i);
    confirmation.add(burst);
  }
  EXPECT_FALSE(confirmation.is_confirmed());
}

TEST(Experiment, TreesHaveEachRankOnce) {
  for (const std::uint32_t ranks : {1U, 8U, 16U, 60U, 64U})
    for (const std::uint32_t fan_out : {2U, 4U, 8U, 64U})
      for (const std::uint32_t nodes : {0U, 1U, 8U}) {
        ExperimentOptions options;
        options.ranks = ranks;
        options.fan_out = fan_out;
        options.nodes = nodes;
        const TreeShape shape = tree_of(options);
        RankSet all;
        for (const RankSet& of : place_ranks(options, shape)) {
          EXPECT_FALSE(all.overlaps(of));
          if (nodes == 0) {
            EXPECT_LE(of.size(), fan_out);
          }
          all.unite(of);
        }
        EXPECT_EQ(all, RankSet::of_range(0, ranks));
      }
}

TEST(Experiment, IrregularRoundsHaveTheMeanInterval) {
  const auto rounds = 1000U;
  EXPECT_EQ(irregular_offset_ns(0, 1'000'000), 0);
  EXPECT_NEAR(static_cast<double>(irregular_offset_ns(rounds, 1'000'000)) / rounds, 1e6, 1e5);
  double squares = 0;
  for (std::uint32_t i = 0; i < rounds; ++i) {
    const auto interval = irregular_offset_ns(i + 1, 1'000'000) - irregular_offset_ns(i, 1'000'000);
    EXPECT_GE(interval, 0);
    squares += std::pow(static_cast<double>(interval) - 1e6, 2) / rounds;
  }
  EXPECT_NEAR(std::sqrt(squares), 1e6, 1.5e5) << "exponential: the deviation is the mean";
}

TEST(Experiment, TheRootSaysWhichPointsAreOffloads) {
  ExperimentOptions options;
  options.ranks = 8;
  options.fan_out = 2;
  options.max_rounds = 50;
  options.max_events = 16;
  std::string error;
  const auto experiment = Experiment::open(options, error);
  ASSERT_NE(experiment, nullptr) << error;
  for (int time = 0; time < 2; ++time) {
    const auto found = experiment->play_controlled(16, 100, 200'000);
    ASSERT_TRUE(found);
    const auto& rounds = found->outcome.rounds;
    EXPECT_GE(rounds.size(), 100U);
    EXPECT_GE(found->settling_ns, 1'000'000'000) << "the interval has held for a second";
    EXPECT_FALSE(found->before.rounds.empty());
    EXPECT_LT(found->before.rounds.back().round, rounds.front().round);
    EXPECT_GT(found->boi_ns, 0);
    EXPECT_GE(found->interval_ns, 200'000);
    // Ranks may drop snapshots if another program uses the processors for long.
    const auto whole = std::ranges::count_if(rounds, [](const ArrivedRound& round) { return round.lost.empty(); });
    EXPECT_GT(2 * static_cast<std::size_t>(whole), rounds.size());
    for (std::size_t i = 1; i < rounds.size(); ++i) EXPECT_GT(rounds[i].round, rounds[i - 1].round);
  }
  Play play;
  play.rounds = 50;
  play.events = 16;
  play.interval_ns = 100'000;
  const auto outcome = experiment->play(play);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->rounds.size(), 50U);
  EXPECT_TRUE(experiment->end());
}

TEST(Experiment, PlaysOnALiveTree) {
  for (const bool is_tree : {false, true}) {
    ExperimentOptions options;
    options.ranks = 8;
    options.fan_out = is_tree ? 2 : 8;
    options.max_rounds = 50;
    options.max_events = 16;
    std::string error;
    const auto experiment = Experiment::open(options, error);
    ASSERT_NE(experiment, nullptr) << error;
    const auto rest = experiment->rest(16, 5);
    ASSERT_TRUE(rest);
    EXPECT_EQ(rest->size(), 5U);
    EXPECT_GT(*std::ranges::min_element(*rest), 0);
    for (const Policy policy : {Policy::block, Policy::unbound, Policy::lossy}) {
      Play play;
      play.rounds = 50;
      play.events = 16;
      play.interval_ns = 1000;  // far too short: rings are full
      play.policy = policy;
      play.in_step = 1;
      const auto outcome = experiment->play(play);
      ASSERT_TRUE(outcome);
      std::uint32_t dropped = 0;
      for (std::uint32_t rank = 0; rank < 8; ++rank)
        for (std::uint32_t round = 0; round < 50; ++round)
          dropped += experiment->stage().offload(rank, round).fate == Stage::Fate::dropped ? 1 : 0;
      std::uint64_t lost = 0;
      for (const ArrivedRound& round : outcome->rounds) lost += round.lost.size();
      lost += 8 * (50 - outcome->rounds.size());
      EXPECT_EQ(lost, dropped) << "what a rank drops is all that is lost";
      if (policy != Policy::lossy) {
        EXPECT_EQ(dropped, 0U);
      }
    }
    EXPECT_TRUE(experiment->end());
  }
}

}  // namespace
}  // namespace tare::tared

// The factor in a program that is simulated: spells of two kinds alternate, the machine's speed drifts, interruptions
// come, and the true cost is a multiple of the account.
#include "recorder/budget/cost_factor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>

namespace tare::recorder {
namespace {

constexpr double at_first = CostFactor::prior + CostFactor::prior_deviation;

constexpr unsigned last = UINT32_MAX;

struct Program {
  double truth;           // cost, in units of the account
  double account = 0.05;  // of a spell's time
  double noise = 0.03;
  double interruptions = 0.02;
  unsigned wrong_for = 0;  // spells
  std::mt19937_64 random{1};

  // At first the account may be wrong.
  Costs costs(unsigned spell) const {
    const double of_call = account * 5000;
    return {{0, of_call, of_call * (spell < wrong_for ? 50 : 1), of_call}};
  }

  void run(CostFactor& factor, unsigned spells) {
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> uniform;
    std::exponential_distribution<double> interruption(1 / 3e6);
    double speed = 1;
    for (unsigned i = 0; i < spells; ++i) {
      const bool is_long = i % 2 == 0;
      speed = std::clamp(speed * std::exp(0.005 * normal(random)), 0.8, 1.25);
      const double bare = (is_long ? 2e6 : 5e5) * speed * std::exp(noise * normal(random));
      const double spent = account * (is_long ? 2e6 : 5e5);
      const double interrupted = uniform(random) < interruptions ? interruption(random) : 0;
      const bool counts = uniform(random) < 0.5;
      const double ticks = bare + interrupted + (counts ? 0 : truth * spent);
      const unsigned calls = is_long ? 400 : 100;
      const SpellTime time{is_long ? 1U : 2U, is_long ? 2U : 1U, 1, calls, static_cast<std::uint64_t>(ticks)};
      if (counts)
        factor.note_counted(time);
      else
        factor.note_recorded(time, Depth::profile, calls, costs(i));
    }
  }
};

TEST(CostFactorTest, NothingIsKnownBeforehandButThePrior) {
  CostFactor factor{};
  constexpr Costs costs{{0, 500, 500, 500}};
  EXPECT_DOUBLE_EQ(factor.value(Depth::profile, costs), at_first);
  factor.note_recorded({1, 2, 1, 100, 1'000'000}, Depth::profile, 100, costs);
  EXPECT_DOUBLE_EQ(factor.value(Depth::profile, costs), at_first) << "there is nothing to compare with";
}

// Spells of 10 calls in two passages, of which each took 990 or 1010 ticks: the variance is 100.
CostFactor after_counted_spells(unsigned spells) {
  CostFactor factor{};
  for (unsigned i = 0; i < spells; ++i) factor.note_counted({1, 2, 2, 20, i % 2 == 0 ? 1980U : 2020U});
  return factor;
}

TEST(CostFactorTest, OneSpellMovesThePriorByItsWeight) {
  constexpr Costs costs{{0, 2, 2, 2}};
  CostFactor factor = after_counted_spells(6);
  factor.note_recorded({1, 2, 2, 20, 2040}, Depth::profile, 20, costs);
  // 20 ticks for 10 calls of 2: a factor of 1, known to a standard deviation of sqrt(100 * (1 + 1 / 6)) / 20.
  const double prior = 1 / (CostFactor::prior_deviation * CostFactor::prior_deviation);
  const double known = 20 * 20 / (100 * 7 / 6.0);
  const double of_all = (prior * CostFactor::prior + known * 1) / (prior + known);
  const auto above = [](double precision) { return 1 / std::sqrt(precision); };
  EXPECT_NEAR(factor.value(Depth::profile, costs),
              (prior * of_all + known * 1) / (prior + known) + above(prior + known), 1e-9);
  EXPECT_NEAR(factor.value(Depth::trace, costs), of_all + above(prior), 1e-9) << "of other depths it is the prior";
}

TEST(CostFactorTest, OnlySpellsOfTheSameKindAreCompared) {
  constexpr Costs costs{{0, 2, 2, 2}};
  const auto moved_by = [&](const SpellTime& spell, unsigned counted = 6) {
    CostFactor factor = after_counted_spells(counted);
    factor.note_recorded(spell, Depth::profile, spell.calls, costs);
    return factor.value(Depth::profile, costs) != at_first;
  };
  EXPECT_TRUE(moved_by({1, 2, 2, 20, 2040}));
  EXPECT_FALSE(moved_by({1, 2, 2, 20, 2040}, 5)) << "too few were counted";
  EXPECT_FALSE(moved_by({2, 1, 2, 20, 2040}));
  EXPECT_FALSE(moved_by({1, 3, 2, 20, 2040}));
  EXPECT_TRUE(moved_by({1, 2, 3, 30, 3060})) << "about as long";
  EXPECT_FALSE(moved_by({1, 2, 4, 40, 4080})) << "twice as long";
  EXPECT_FALSE(moved_by({1, 2, 2, 22, 2040})) << "another number of calls";
}

TEST(CostFactorTest, WhatLiesFarOffIsTakenForADisturbance) {
  constexpr Costs costs{{0, 0.5, 0.5, 0.5}};
  const auto after = [&](std::uint64_t ticks) {
    CostFactor factor = after_counted_spells(6);
    factor.note_recorded({1, 2, 2, 20, ticks}, Depth::profile, 20, costs);
    return factor.value(Depth::profile, costs);
  };
  // Four standard deviations beyond what is expected, which is 1.25 * 5 ticks of a passage.
  const double limit = 4 * std::sqrt(100 * 7 / 6.0);
  EXPECT_LT(after(static_cast<std::uint64_t>(2 * (1000 + 6.25 + limit) - 4)), after(4'000'000));
  EXPECT_EQ(after(static_cast<std::uint64_t>(2 * (1000 + 6.25 + limit) + 4)), after(4'000'000));
  EXPECT_GT(after(static_cast<std::uint64_t>(2 * (1000 - limit) + 4)), after(1));
  EXPECT_EQ(after(static_cast<std::uint64_t>(2 * (1000 - limit) - 4)), after(1));
}

TEST(CostFactorTest, ItComesToTheTruth) {
  for (const double truth : {0.4, 1.0, 1.5, 2.5}) {
    double sum = 0;
    constexpr unsigned runs = 20;
    for (unsigned run = 0; run < runs; ++run) {
      CostFactor factor{};
      Program program{.truth = truth, .random = std::mt19937_64{run}};
      program.run(factor, 2000);
      EXPECT_NEAR(factor.value(Depth::profile, program.costs(last)), truth, 0.3) << truth;
      sum += factor.value(Depth::profile, program.costs(last));
    }
    EXPECT_NEAR(sum / runs, truth, 0.1);
  }
}

// Where measuring costs next to nothing, its noise says nothing of the factor.
TEST(CostFactorTest, NoiseAloneMovesNothing) {
  for (unsigned run = 0; run < 20; ++run) {
    CostFactor factor{};
    Program program{.truth = 1.2, .account = 1e-4, .random = std::mt19937_64{run}};
    program.run(factor, 2000);
    EXPECT_NEAR(factor.value(Depth::profile, program.costs(last)), at_first, 0.25);
  }
}

// When a program begins, a weighed call may say a multiple of what others cost: it met page faults.
TEST(CostFactorTest, AnAccountThatWasWrongAtFirstIsForgotten) {
  for (unsigned run = 0; run < 20; ++run) {
    CostFactor factor{};
    Program program{.truth = 1.2, .wrong_for = 300, .random = std::mt19937_64{run}};
    program.run(factor, 2000);
    EXPECT_NEAR(factor.value(Depth::profile, program.costs(last)), 1.2, 0.3);
  }
}

TEST(CostFactorTest, ItFollowsAProgramThatChanges) {
  CostFactor factor{};
  Program program{.truth = 2.5};
  program.run(factor, 3000);
  EXPECT_NEAR(factor.value(Depth::profile, program.costs(last)), 2.5, 0.3);
  program.truth = 1.2;
  program.run(factor, 20000);
  EXPECT_NEAR(factor.value(Depth::profile, program.costs(last)), 1.2, 0.3);
}

TEST(CostFactorTest, ItStaysWithinBounds) {
  CostFactor factor{};
  Program program{.truth = 20};
  program.run(factor, 2000);
  EXPECT_EQ(factor.value(Depth::profile, program.costs(last)), CostFactor::most);
  CostFactor other{};
  program.truth = -5;
  program.run(other, 2000);
  EXPECT_EQ(other.value(Depth::profile, program.costs(last)), CostFactor::least);
}

}  // namespace
}  // namespace tare::recorder

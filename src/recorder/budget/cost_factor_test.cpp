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

struct Program {
  double truth;           // cost, in units of the account
  double account = 0.05;  // of a spell's time
  double noise = 0.03;
  double interruptions = 0.02;
  std::mt19937_64 random{1};

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
      const SpellTime time{is_long ? 1U : 2U, is_long ? 2U : 1U, 1, is_long ? 400U : 100U,
                           static_cast<std::uint64_t>(ticks)};
      if (counts)
        factor.note_counted(time);
      else
        factor.note_recorded(time, spent);
    }
  }
};

TEST(CostFactorTest, NothingIsKnownBeforehandButThePrior) {
  CostFactor factor{};
  EXPECT_DOUBLE_EQ(factor.value(), CostFactor::prior);
  factor.note_recorded({1, 2, 1, 100, 1'000'000}, 50'000);
  EXPECT_DOUBLE_EQ(factor.value(), CostFactor::prior) << "there is nothing to compare with";
}

TEST(CostFactorTest, ItComesToTheTruth) {
  for (const double truth : {1.0, 1.5, 2.5}) {
    double sum = 0;
    constexpr unsigned runs = 20;
    for (unsigned run = 0; run < runs; ++run) {
      CostFactor factor{};
      Program program{.truth = truth, .random = std::mt19937_64{run}};
      program.run(factor, 2000);
      EXPECT_NEAR(factor.value(), truth, 0.3) << truth;
      sum += factor.value();
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
    EXPECT_NEAR(factor.value(), CostFactor::prior, 0.25);
  }
}

TEST(CostFactorTest, ItFollowsAProgramThatChanges) {
  CostFactor factor{};
  Program program{.truth = 2.5};
  program.run(factor, 3000);
  EXPECT_NEAR(factor.value(), 2.5, 0.3);
  program.truth = 1.2;
  program.run(factor, 20000);
  EXPECT_NEAR(factor.value(), 1.2, 0.3);
}

TEST(CostFactorTest, ItStaysWithinBounds) {
  CostFactor factor{};
  Program program{.truth = 20};
  program.run(factor, 2000);
  EXPECT_EQ(factor.value(), CostFactor::most);
  CostFactor other{};
  program.truth = -5;
  program.run(other, 2000);
  EXPECT_EQ(other.value(), CostFactor::least);
}

}  // namespace
}  // namespace tare::recorder

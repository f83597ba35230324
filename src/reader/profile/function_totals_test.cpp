#include "reader/profile/function_totals.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace tare::reader {
namespace {

using format::SpellSums;

struct Spell {
  double probability, calls, ticks, bytes;
};

// As recorder::SpellSummer does.
void add(SpellSums& sums, const Spell& spell) {
  const double weight = 1 / spell.probability, others = weight - 1, of_products = weight * others;
  ++sums.spells;
  sums.calls += others * spell.calls;
  sums.ticks += others * spell.ticks;
  sums.bytes += others * spell.bytes;
  sums.calls_calls += of_products * spell.calls * spell.calls;
  sums.calls_ticks += of_products * spell.calls * spell.ticks;
  sums.ticks_ticks += of_products * spell.ticks * spell.ticks;
  sums.calls_bytes += of_products * spell.calls * spell.bytes;
  sums.bytes_bytes += of_products * spell.bytes * spell.bytes;
}

// A program of three phases, of which one calls ten times more often, and is measured that much more rarely. Calls of a
// spell are long or short together.
std::vector<Spell> program(std::mt19937_64& random) {
  std::vector<Spell> spells;
  std::poisson_distribution<int> few(20), many(200);
  std::lognormal_distribution<double> pace(0, 0.5);
  for (unsigned i = 0; i < 900; ++i) {
    const bool is_dense = i >= 300 && i < 600;
    const double calls = 1 + (is_dense ? many(random) : few(random));
    const double each = (is_dense ? 40 : 400) * pace(random);
    spells.push_back({is_dense ? 0.08 : 0.5, calls, calls * each, calls * 64});
  }
  return spells;
}

TEST(FunctionTotalsTest, IntervalsCoverTheTruth) {
  std::mt19937_64 random(20260131);
  const std::vector<Spell> spells = program(random);
  double whole = 0;
  for (const Spell& spell : spells) whole += spell.ticks;
  constexpr unsigned runs = 4000;
  unsigned covered = 0;
  double sum = 0, squares = 0;
  std::uniform_real_distribution<double> uniform;
  for (unsigned run = 0; run < runs; ++run) {
    SpellSums sums{};
    double measured = 0, counted = 0, bytes = 0;
    for (const Spell& spell : spells) {
      if (uniform(random) < spell.probability) {
        add(sums, spell);
        measured += spell.ticks;
      } else {
        counted += spell.calls;
        bytes += spell.bytes;
      }
    }
    const Estimate ticks = ticks_of_counted(counted, sums);
    ASSERT_TRUE(ticks.error.has_value());
    covered += std::abs(measured + ticks.value - whole) <= *ticks.error ? 1 : 0;
    sum += measured + ticks.value;
    squares += std::pow(measured + ticks.value - whole, 2);
    // The same bytes in each call: nothing is unknown.
    const Estimate of_bytes = bytes_of_counted(counted, sums);
    EXPECT_NEAR(of_bytes.value, bytes, 1e-6 * bytes);
    EXPECT_NEAR(*of_bytes.error, 0, 1e-4 * bytes);
  }
  EXPECT_GE(covered, 0.93 * runs);
  EXPECT_LE(covered, 0.97 * runs);
  // A ratio is biased, but little beside its error (Cochran, Sampling Techniques, 3rd ed., section 6.8).
  const double bias = sum / runs - whole, deviation = std::sqrt(squares / runs - bias * bias);
  EXPECT_LT(std::abs(bias), 0.2 * deviation);
}

TEST(FunctionTotalsTest, NothingWasOnlyCounted) {
  const Estimate none = ticks_of_counted(0, SpellSums{});
  EXPECT_EQ(none.value, 0);
  EXPECT_EQ(none.error, 0.0);
}

TEST(FunctionTotalsTest, TwoSpellsAreTooFew) {
  SpellSums sums{};
  add(sums, {0.5, 10, 1000, 0});
  add(sums, {0.5, 10, 1200, 0});
  EXPECT_FALSE(ticks_of_counted(100, sums).error.has_value());
  add(sums, {0.5, 10, 1100, 0});
  const Estimate ticks = ticks_of_counted(100, sums);
  EXPECT_DOUBLE_EQ(ticks.value, 11000);
  // Residuals of -100, 0 and 100 for 30 calls, with weights of 2: 100 / 30 * sqrt(2 * 2 * 1e4 * 3 / 2), times Student's
  // 4.303 of two degrees of freedom.
  ASSERT_TRUE(ticks.error.has_value());
  EXPECT_NEAR(*ticks.error, 4.303 * 100 / 30 * std::sqrt(6e4), 0.01 * *ticks.error);
}

}  // namespace
}  // namespace tare::reader

#include "reader/model/counted_calls.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace tare::reader {
namespace {

using format::SpellSums;

struct Made {
  double probability, calls, ticks, bytes;
};

// Adds a spell as recorder::SpellSummer does. `of_function`: calls of the spell at all sites.
void add(SpellSums& sums, const Made& made, double of_function) {
  const double weight = 1 / made.probability, others = weight - 1, of_products = weight * others;
  ++sums.spells;
  sums.calls += others * made.calls;
  sums.ticks += others * made.ticks;
  sums.bytes += others * made.bytes;
  sums.calls_calls += of_products * made.calls * made.calls;
  sums.ticks_ticks += of_products * made.ticks * made.ticks;
  sums.bytes_bytes += of_products * made.bytes * made.bytes;
  sums.calls_of_function += of_products * made.calls * of_function;
  sums.ticks_of_function += of_products * made.ticks * of_function;
  sums.bytes_of_function += of_products * made.bytes * of_function;
}
void add(SpellSums& sums, const Made& made) { add(sums, made, made.calls); }

// A program of three phases. One of them makes ten times as many calls, and is measured a tenth as often. The durations
// of the calls of one spell are correlated.
std::vector<Made> program(std::mt19937_64& random) {
  std::vector<Made> spells;
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

TEST(CountedCallsTest, IntervalsCoverTheTruth) {
  std::mt19937_64 random(20260131);
  const std::vector<Made> spells = program(random);
  double whole = 0;
  for (const Made& spell : spells) whole += spell.ticks;
  constexpr unsigned runs = 4000;
  unsigned covered = 0;
  double sum = 0, squares = 0;
  std::uniform_real_distribution<double> uniform;
  for (unsigned run = 0; run < runs; ++run) {
    SpellSums sums{};
    double measured = 0, counted = 0, bytes = 0;
    for (const Made& spell : spells) {
      if (uniform(random) < spell.probability) {
        add(sums, spell);
        measured += spell.ticks;
      } else {
        counted += spell.calls;
        bytes += spell.bytes;
      }
    }
    const Estimate ticks = ticks_of_counted({counted, 0}, sums, sums);
    ASSERT_TRUE(ticks.error.has_value());
    covered += std::abs(measured + ticks.value - whole) <= *ticks.error ? 1 : 0;
    sum += measured + ticks.value;
    squares += std::pow(measured + ticks.value - whole, 2);
    // All calls have the same number of bytes, so this estimate has no error.
    const Estimate of_bytes = bytes_of_counted({counted, 0}, sums, sums);
    EXPECT_NEAR(of_bytes.value, bytes, 1e-6 * bytes);
    EXPECT_NEAR(*of_bytes.error, 0, 1e-4 * bytes);
  }
  EXPECT_GE(covered, 0.93 * runs);
  EXPECT_LE(covered, 0.97 * runs);
  // A ratio estimate is biased, but the bias is small compared with its error (Cochran, Sampling Techniques, 3rd ed.,
  // section 6.8).
  const double bias = sum / runs - whole, deviation = std::sqrt(squares / runs - bias * bias);
  EXPECT_LT(std::abs(bias), 0.2 * deviation);
}

// A function that is called at three sites: at the first in all spells, at the second more often in the dense phase, at
// the third in a tenth of the spells.
struct AtSites {
  Made sites[3];
  double calls() const { return sites[0].calls + sites[1].calls + sites[2].calls; }
};

std::vector<AtSites> program_with_sites(std::mt19937_64& random) {
  std::vector<AtSites> spells;
  std::poisson_distribution<int> few(10), many(120), rare(8);
  std::lognormal_distribution<double> pace(0, 0.4);
  std::uniform_real_distribution<double> uniform;
  for (unsigned i = 0; i < 900; ++i) {
    const bool is_dense = i >= 300 && i < 600;
    const double probability = is_dense ? 0.2 : 0.5;
    const double calls[] = {1.0 + few(random), 1.0 + (is_dense ? many(random) : few(random)),
                            uniform(random) < 0.1 ? 1.0 + rare(random) : 0.0};
    const double each[] = {400 * pace(random), 40 * pace(random), 900 * pace(random)};
    AtSites& spell = spells.emplace_back();
    for (unsigned site = 0; site < 3; ++site)
      spell.sites[site] = {probability, calls[site], calls[site] * each[site],
                           calls[site] * (32 + 64 * uniform(random))};
  }
  return spells;
}

// How often confidence intervals cover the true value, and how far estimates are from it.
struct Judged {
  unsigned runs = 0, covered = 0;
  double sum = 0, squares = 0;
  void add(double value, double error, double truth) {
    ++runs;
    covered += std::abs(value - truth) <= error ? 1 : 0;
    sum += value - truth;
    squares += (value - truth) * (value - truth);
  }
  double coverage() const { return static_cast<double>(covered) / runs; }
  // In standard deviations of the estimate.
  double bias() const {
    const double mean = sum / runs;
    return mean / std::sqrt(squares / runs - mean * mean);
  }
};

TEST(CountedCallsTest, IntervalsOfSitesCoverTheTruth) {
  std::mt19937_64 random(20260131);
  const std::vector<AtSites> spells = program_with_sites(random);
  Made whole[3] = {};
  for (const AtSites& spell : spells) {
    for (unsigned site = 0; site < 3; ++site) {
      whole[site].calls += spell.sites[site].calls;
      whole[site].ticks += spell.sites[site].ticks;
      whole[site].bytes += spell.sites[site].bytes;
    }
  }
  Judged calls[3], ticks[3], bytes[3];
  std::uniform_real_distribution<double> uniform;
  for (unsigned run = 0; run < 4000; ++run) {
    SpellSums of_function{}, of_sites[3] = {};
    Made measured[3] = {};
    double counted = 0;
    for (const AtSites& spell : spells) {
      if (uniform(random) >= spell.sites[0].probability) {
        counted += spell.calls();
        continue;
      }
      Made all{spell.sites[0].probability, spell.calls(), 0, 0};
      for (unsigned site = 0; site < 3; ++site) {
        const Made& made = spell.sites[site];
        if (made.calls > 0) add(of_sites[site], made, spell.calls());
        measured[site].calls += made.calls;
        measured[site].ticks += made.ticks;
        measured[site].bytes += made.bytes;
        all.ticks += made.ticks;
        all.bytes += made.bytes;
      }
      add(of_function, all);
    }
    double all_calls = 0, all_ticks = 0;
    for (unsigned site = 0; site < 3; ++site) {
      const Estimate more_calls = calls_of_counted({counted, 0}, of_sites[site], of_function),
                     more_ticks = ticks_of_counted({counted, 0}, of_sites[site], of_function),
                     more_bytes = bytes_of_counted({counted, 0}, of_sites[site], of_function);
      ASSERT_TRUE(more_calls.error && more_ticks.error && more_bytes.error);
      calls[site].add(measured[site].calls + more_calls.value, *more_calls.error, whole[site].calls);
      ticks[site].add(measured[site].ticks + more_ticks.value, *more_ticks.error, whole[site].ticks);
      bytes[site].add(measured[site].bytes + more_bytes.value, *more_bytes.error, whole[site].bytes);
      all_calls += more_calls.value;
      all_ticks += more_ticks.value;
    }
    EXPECT_NEAR(all_calls, counted, 1e-9 * counted) << "what sites have is what the function has";
    const double of_all = ticks_of_counted({counted, 0}, of_function, of_function).value;
    EXPECT_NEAR(all_ticks, of_all, 1e-9 * of_all);
  }
  for (const Judged* of : {calls, ticks, bytes}) {
    for (unsigned site = 0; site < 3; ++site) {
      EXPECT_GE(of[site].coverage(), 0.93) << "site " << site;
      EXPECT_LE(of[site].coverage(), 0.97) << "site " << site;
      EXPECT_LT(std::abs(of[site].bias()), 0.2) << "site " << site;
    }
  }
}

// One of ten spells that were measured had a call that took most of the time.
TEST(CountedCallsTest, TimeOfFewSpellsHasNoKnownError) {
  SpellSums even{}, uneven{};
  for (int i = 0; i < 10; ++i) {
    add(even, {0.1, 100, 100, 800});
    add(uneven, {0.1, 100, i == 3 ? 100'000.0 : 100.0, 800});
  }
  EXPECT_TRUE(ticks_of_counted({9000, 0, 0.9}, even, even).error);
  EXPECT_FALSE(ticks_of_counted({9000, 0, 0.9}, uneven, uneven).error);
  EXPECT_TRUE(bytes_of_counted({9000, 0, 0.9}, uneven, uneven).error) << "all calls have as many";
}

// All calls of the function are at one site.
TEST(CountedCallsTest, CallsOfAllSitesAreExact) {
  SpellSums sums{};
  for (const double calls : {10, 20, 40, 20}) add(sums, {0.5, calls, 0, 0});
  const Estimate calls = calls_of_counted({100, 0, 0.5}, sums, sums);
  EXPECT_DOUBLE_EQ(calls.value, 100);
  ASSERT_TRUE(calls.error.has_value());
  EXPECT_NEAR(*calls.error, 0, 1e-9);
}

TEST(CountedCallsTest, SpellsThatMeasureWithRequestsUnderWayHideSites) {
  Process process;
  for (std::uint32_t number = 1; number <= 100; ++number) {
    Spell& spell = process.spells[number];
    spell.measured = false;
    spell.has_requests = true;
    spell.counted_calls = 50;
    spell.measured_calls = 1;  // the last call of the spell, which is always measured
  }
  EXPECT_EQ(unrepresented_calls(process).leaked, 0);
  EXPECT_TRUE(unrepresented_calls(process).are_sites_known());
  for (std::uint32_t number = 1; number <= 100; ++number) process.spells[number].measured_calls = 10;
  EXPECT_EQ(unrepresented_calls(process).leaked, 900);
  EXPECT_FALSE(unrepresented_calls(process).are_sites_known());
  process.spells[1].measured = process.spells[1].cut = true;
  process.spells[1].counted_calls = 600;
  EXPECT_EQ(unrepresented_calls(process).behind_cuts, 600);
}

// Calls behind cuts concern the functions that were called there, and no others.
TEST(CountedCallsTest, CallsBehindCutsAreOfFunctions) {
  Process process;
  process.spells[1].measured = process.spells[1].cut = true;
  process.spells[1].counted_calls = 600;
  SpellSums sends{}, receives{};
  process.spell_sums = {sends, receives};
  EXPECT_EQ(unrepresented_calls(process).behind_cuts_of(1000, sends), 600) << "it is not known of which function";
  EXPECT_EQ(unrepresented_calls(process).behind_cuts_of(100, sends), 100);
  sends.site = receives.site = format::all_sites;
  sends.behind_cuts = 600;
  process.spell_sums = {sends, receives};
  EXPECT_EQ(unrepresented_calls(process).behind_cuts_of(1000, sends), 600);
  EXPECT_EQ(unrepresented_calls(process).behind_cuts_of(1000, receives), 0);
  EXPECT_FALSE(Unrepresented::is_known(1000, 600));
  EXPECT_TRUE(Unrepresented::is_known(6000, 600));
}

// All of them may be calls at this site, or none.
TEST(CountedCallsTest, CallsThatNoSpellRepresentsMakeErrorsLarger) {
  SpellSums function{}, site{};
  for (int spell = 0; spell < 10; ++spell) {
    add(function, {0.5, 10, 1000, 80});
    add(site, {0.5, 4, 100, 8}, 10);
  }
  const Estimate calls = calls_of_counted({1000, 15}, site, function);
  EXPECT_DOUBLE_EQ(calls.value, 400);
  ASSERT_TRUE(calls.error.has_value());
  EXPECT_NEAR(*calls.error, 15, 1e-3);
  const Estimate bytes = bytes_of_counted({1000, 15}, site, function);
  ASSERT_TRUE(bytes.error.has_value());
  EXPECT_NEAR(*bytes.error, 15 * 2, 1e-3);  // 2 bytes a call
}

TEST(CountedCallsTest, NothingWasOnlyCounted) {
  const Estimate none = ticks_of_counted({0, 0}, SpellSums{}, SpellSums{});
  EXPECT_EQ(none.value, 0);
  EXPECT_EQ(none.error, 0.0);
}

TEST(CountedCallsTest, TwoSpellsAreTooFew) {
  SpellSums sums{};
  add(sums, {0.5, 10, 1000, 0});
  add(sums, {0.5, 10, 1200, 0});
  EXPECT_FALSE(ticks_of_counted({100, 0}, sums, sums).error.has_value());
  add(sums, {0.5, 10, 1100, 0});
  const Estimate ticks = ticks_of_counted({100, 0, 0.5}, sums, sums);
  EXPECT_DOUBLE_EQ(ticks.value, 11000);
  // Residuals of -100, 0 and 100 for 30 calls, with weights of 2: 100 / 30 * sqrt(2 * 2 * 1e4 * 3 / 2), times Student's
  // 4.303 of two degrees of freedom.
  ASSERT_TRUE(ticks.error.has_value());
  EXPECT_NEAR(*ticks.error, 4.303 * 100 / 30 * std::sqrt(6e4), 0.01 * *ticks.error);
}

// Two of many spells were so improbable that nearly the whole estimate comes from them. They cannot show how much the
// spells differ that they represent.
TEST(CountedCallsTest, SpellsOfLargeWeightMustNotBeTheOnlyOnes) {
  SpellSums sums{};
  for (int spell = 0; spell < 20; ++spell) add(sums, {0.9, 10, 1000, 0});
  for (int spell = 0; spell < 2; ++spell) add(sums, {0.01, 10, 1500, 0});
  EXPECT_FALSE(ticks_of_counted({2000, 0, 0.9}, sums, sums).error.has_value());
  for (int spell = 0; spell < 2; ++spell) add(sums, {0.01, 10, 1200, 0});
  EXPECT_TRUE(ticks_of_counted({4000, 0, 0.9}, sums, sums).error.has_value());
}

}  // namespace
}  // namespace tare::reader

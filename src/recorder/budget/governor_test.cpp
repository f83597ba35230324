// The governor in a program that is simulated: calls come at a rate, cost what they cost at the depth that is chosen,
// and spells begin at intervals.
#include "recorder/budget/governor.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

namespace tare::recorder {
namespace {

constexpr double ticks_per_ms = 1e6;  // a tick is a nanosecond
constexpr double costs[depths] = {1, 20, 60, 85};
constexpr double drain_cost = 30;
constexpr unsigned records_a_drain = 4096;

// What the program does for a while.
struct Phase {
  double ms;
  double calls_a_ms;
  double spell_ms;  // 0: there are none
};

struct Simulation {
  explicit Simulation(Budget b) : budget(b) { governor.begin({}, ticks_per_ms); }

  void run(const Phase& phase) {
    const double end = time + phase.ms * ticks_per_ms;
    const double gap = ticks_per_ms / phase.calls_a_ms;
    while (time < end) {
      if (phase.spell_ms != 0 && time >= next_spell) begin_spell(phase.spell_ms);
      call(gap);
    }
  }

  void begin_spell(double spell_ms) {
    advance();
    const Governor::Shares shares = governor.plan(budget, static_cast<std::uint64_t>(last_spell));
    const double x = std::uniform_real_distribution<>()(random);
    const Depth before = depth;
    depth = x < shares.traced ? Depth::trace : x < shares.measured ? governor.profile_depth() : Depth::counts;
    changes += depth != before ? 1 : 0;
    last_spell = spell_ms * ticks_per_ms;
    next_spell = time + last_spell;
    ++spells[static_cast<unsigned>(depth)];
  }

  void call(double gap) {
    const double cost = costs[static_cast<unsigned>(depth)] * cost_factor;
    time += gap + cost;
    spent += cost;
    ++calls[static_cast<unsigned>(depth)];
    if (depth == Depth::trace && ++buffered == records_a_drain) {
      buffered = 0;
      const double drain = drain_cost * records_a_drain * slower_disk;
      flushed += drain;
      time += drain;
      spent += drain;
    }
    if (++since_check < 256) return;
    since_check = 0;
    advance();
    if (depth != Depth::counts) governor.note_cost(depth, static_cast<std::uint64_t>(cost));
    const Depth allowed = governor.limit(budget, depth);
    if (allowed < depth) ++cuts;
    depth = allowed;
  }

  void advance() {
    governor.advance(budget, depth,
                     {static_cast<std::uint64_t>(time), calls[1] + calls[2] + calls[3], calls[0], 0,
                      static_cast<std::uint64_t>(flushed), 0});
  }

  std::uint64_t spells_of(Depth of) const { return spells[static_cast<unsigned>(of)]; }
  std::uint64_t profiled() const { return spells_of(Depth::thinned) + spells_of(Depth::profile); }

  // The share of the time since `then` that was spent on measuring.
  double share_since(double then, double spent_then) const { return (spent - spent_then) / (time - then); }

  Budget budget;
  Governor governor{};
  Depth depth = Depth::trace;
  double time = 0, spent = 0, flushed = 0;
  double cost_factor = 1, slower_disk = 1;
  double next_spell = 0, last_spell = 0;
  unsigned buffered = 0, since_check = 0, cuts = 0, changes = 0;
  std::uint64_t calls[depths]{}, spells[depths]{};
  std::mt19937_64 random{1};
};

TEST(GovernorTest, WhatIsCheapIsTracedWhole) {
  Simulation run({0.01, 0});
  run.run({5000, 50, 5});  // 50,000 calls a second: 0.6 % with the trace
  EXPECT_EQ(run.spells_of(Depth::counts) + run.profiled(), 0U);
  EXPECT_EQ(run.cuts, 0U);
}

// Whatever the budget, it is kept to, and used.
TEST(GovernorTest, TheBudgetIsKeptToAndUsed) {
  for (const double share : {0.005, 0.01, 0.02, 0.05})
    for (const double calls_a_ms : {200.0, 500.0, 1000.0, 3000.0}) {
      Simulation run({share, 0});
      run.run({1000, calls_a_ms, 5});
      const double then = run.time, spent = run.spent;
      run.run({10000, calls_a_ms, 5});
      const double used = run.share_since(then, spent);
      const double most = calls_a_ms * (costs[3] + drain_cost) * 1e-6;
      const double least = calls_a_ms * costs[0] * 1e-6;
      if (least > share) continue;  // even counting is too dear
      EXPECT_LT(used, share * 1.05) << share << " of " << calls_a_ms;
      if (most > share) {
        EXPECT_GT(used, share * 0.5) << share << " of " << calls_a_ms;
      }
    }
}

// If even counting is too dear, next to nothing is measured, so that the budget is exceeded by little.
TEST(GovernorTest, WhereCountingIsTooDearHardlyAnythingIsMeasured) {
  Simulation run({0.005, 0});
  run.run({10000, 7000, 50});
  const double counting = static_cast<double>(run.calls[0]) * costs[0] / run.time;
  EXPECT_GT(counting, 0.005);
  EXPECT_LT(run.spent / run.time, counting + 0.002);
}

// If measuring really costs a fifth of the account, five times as much is affordable. Some spells still only count, to
// show that.
TEST(GovernorTest, WhatCostsLessThanTheAccountSaysIsAffordable) {
  Simulation run({0.02, 0});
  for (const Depth depth : {Depth::thinned, Depth::profile, Depth::trace}) run.governor.note_factor(depth, 0.3);
  run.run({2000, 1000, 2});
  EXPECT_GT(run.profiled() + run.spells_of(Depth::trace), 0.85 * 1000);
  EXPECT_GT(run.spells_of(Depth::counts), 0.05 * 1000);
}

TEST(GovernorTest, ItIsSteadyWithinHalfASecond) {
  Simulation run({0.01, 0});
  run.run({500, 500, 2});
  const double then = run.time, spent = run.spent;
  run.run({500, 500, 2});
  EXPECT_NEAR(run.share_since(then, spent), 0.0095, 0.002);
}

// A phase that calls MPI a hundred times as often.
TEST(GovernorTest, ItReactsWithinATenthOfASecond) {
  for (const double spell_ms : {2.0, 1000.0}) {
    Simulation run({0.01, 0});
    run.run({3000, 20, spell_ms});
    EXPECT_EQ(run.depth, Depth::trace);
    run.run({100, 2000, 0});
    const double then = run.time, spent = run.spent;
    EXPECT_NE(run.depth, Depth::trace) << spell_ms;
    run.run({1000, 2000, 0});
    // The profile of such calls is 4 %, however few are timed: nothing but their number is affordable.
    EXPECT_LT(run.share_since(then, spent), 0.02) << spell_ms;
  }
}

TEST(GovernorTest, ASlowFileSystemMakesTheTraceThinner) {
  Simulation run({0.02, 0});
  run.run({3000, 150, 5});
  const std::uint64_t untraced = run.profiled();
  EXPECT_EQ(untraced, 0U);
  run.slower_disk = 30;
  run.run({2000, 150, 5});
  const double then = run.time, spent = run.spent;
  const std::uint64_t traced = run.spells_of(Depth::trace);
  run.run({20000, 150, 5});
  EXPECT_GT(run.profiled(), untraced);
  EXPECT_GT(run.spells_of(Depth::trace), traced);
  EXPECT_LT(run.share_since(then, spent), 0.021);
  EXPECT_GT(run.share_since(then, spent), 0.01);
}

// Which spells are traced is left to chance; how many of them is not.
TEST(GovernorTest, TheSharesDoNotOscillate) {
  struct Case {
    double calls_a_ms, least, most;
  };
  // With thinned timing the profile of the first takes 1 %, its trace 5.8 %. That of the second takes 1.5 % with all
  // times, its trace 2.9 %.
  for (const Case& each : {Case{500, 0.05, 0.35}, Case{250, 0.2, 0.45}}) {
    Simulation run({0.02, 0});
    run.run({2000, each.calls_a_ms, 5});
    for (int i = 0; i < 1000; ++i) {
      run.run({10, each.calls_a_ms, 5});
      const double traced = run.governor.plan(run.budget, 5'000'000).traced;
      EXPECT_GE(traced, each.least);
      EXPECT_LE(traced, each.most);
    }
  }
}

// Iterations of a second, of which the budget allows some: those are whole.
TEST(GovernorTest, LongSpellsAreTracedWhole) {
  Simulation run({0.01, 0});
  run.run({5000, 150, 1000});
  run.cuts = 0;
  run.run({60000, 150, 1000});  // 1.7 % with the trace, 0.9 % without
  EXPECT_LE(run.cuts, 2U);
  EXPECT_GT(run.spells_of(Depth::trace), 2U);
  EXPECT_GT(run.profiled(), 10U);
}

// Timing of brief calls is thinned out where a profile with all times is not affordable; it does not come and go.
TEST(GovernorTest, TimingIsThinnedWhereTheBudgetIsTight) {
  Simulation run({0.02, 0});
  run.run({2000, 500, 5});  // 3 % with all times
  const std::uint64_t whole = run.spells_of(Depth::profile);
  run.run({5000, 500, 5});
  EXPECT_EQ(run.spells_of(Depth::profile), whole);
  EXPECT_GT(run.spells_of(Depth::thinned), 500U);
  EXPECT_EQ(run.spells_of(Depth::counts), 0U);
  run.run({2000, 200, 5});  // 1.2 %
  const std::uint64_t thinned = run.spells_of(Depth::thinned);
  run.run({5000, 200, 5});
  EXPECT_EQ(run.spells_of(Depth::thinned), thinned);
}

TEST(GovernorTest, ControlsAreNotPaidFor) {
  Governor governor{};
  const Budget budget{0.01, 0};
  governor.begin({1000, 0, 0, 0, 0, 0}, ticks_per_ms);
  governor.pass_over({1'000'001'000, 0, 1'000'000, 0, 0, 0});
  EXPECT_EQ(governor.balance(), 0);
  governor.advance(budget, Depth::counts, {2'000'001'000, 0, 1'000'000, 0, 0, 0});
  EXPECT_GT(governor.balance(), 0) << "what comes after is";
}

// Calls that bypass their wrappers cost a fifth of those that do not.
TEST(GovernorTest, CountingIsPaidFor) {
  const Budget budget{0.01, 0};
  const auto balance_after = [&](std::uint64_t in_wrappers) {
    Governor governor{};
    governor.begin({1000, 0, 0, 0, 0, 0}, ticks_per_ms);
    governor.advance(budget, Depth::counts, {100'001'000, 0, 100'000, in_wrappers, 0, 0});
    return governor.balance();
  };
  const double bypassed = balance_after(0), counted = balance_after(100'000);
  EXPECT_NEAR(bypassed - counted, 4e5, 1e4);  // 4 ns each
  EXPECT_GT(counted, 0);
}

// Nanoseconds of a call at each depth.
std::vector<double> account_of(const Governor& governor) {
  const Costs costs = governor.account();
  return {costs.of, costs.of + depths};
}

TEST(GovernorTest, CallsThatWereNotWeighedCostWhatIsUsual) {
  Governor governor{};
  governor.begin({}, ticks_per_ms);
  EXPECT_EQ(account_of(governor), (std::vector<double>{1, 30, 60, 85}));
  Governor traced = governor;
  traced.note_cost(Depth::trace, 100);
  EXPECT_EQ(account_of(traced), (std::vector<double>{1, 30, 75, 100}));
  Governor fast = governor;
  fast.note_cost(Depth::trace, 40);  // a profile is at least half of it
  EXPECT_EQ(account_of(fast), (std::vector<double>{1, 20, 20, 40}));
  Governor profiled = governor;
  profiled.note_cost(Depth::profile, 200);
  EXPECT_EQ(account_of(profiled), (std::vector<double>{1, 30, 200, 225}));
}

TEST(GovernorTest, AnInterruptedCallSaysLittle) {
  Governor first{};
  first.begin({}, ticks_per_ms);
  first.note_cost(Depth::profile, 1'000'000);
  first.note_cost(Depth::profile, 100);
  EXPECT_EQ(account_of(first)[2], (32 * 100 + 100) / 2.0);
  Governor later{};
  later.begin({}, ticks_per_ms);
  for (int i = 0; i < 100; ++i) later.note_cost(Depth::profile, 100);
  later.note_cost(Depth::profile, 1'000'000);
  EXPECT_DOUBLE_EQ(account_of(later)[2], 100 + (8 * 100 - 100) / 32.0);
}

TEST(GovernorTest, TheBalanceIsWhatTheBudgetLeaves) {
  const Budget budget{0.01, 0};
  Governor governor{};
  governor.begin({1000, 100, 100, 100, 100, 100}, ticks_per_ms);
  governor.advance(budget, Depth::profile, {1'001'000, 110, 120, 110, 200, 150});
  // 93 % of the budget; 10 calls of 60, 20 that were counted, half of them in wrappers; flushes and spells.
  EXPECT_NEAR(governor.balance(), 9300 - 10 * 60 - 10 * 5 - 10 * 1 - 100 - 50, 1e-6);
  governor.advance(budget, Depth::profile, {1'001'000'000, 110, 120, 110, 200, 150});
  EXPECT_DOUBLE_EQ(governor.balance(), 0.01 * 300e6) << "of 300 ms at most";
  EXPECT_TRUE(governor.has_saved(budget));
  governor.advance(budget, Depth::profile, {1'001'000'001, 110, 120, 110, 200 + 250'000, 150});
  EXPECT_TRUE(governor.has_saved(budget));
  governor.advance(budget, Depth::profile, {1'001'000'002, 110, 120, 110, 200 + 350'000, 150});
  EXPECT_FALSE(governor.has_saved(budget)) << "less than nine tenths of that";
  governor.advance(budget, Depth::profile, {1'001'000'003, 110, 120, 110, 200 + 100'000'000, 150});
  EXPECT_DOUBLE_EQ(governor.balance(), -0.01 * 2000e6) << "of two seconds at least";
}

// After a second with calls that were counted outside wrappers, which cost 1 ns each, and this balance.
Governor after_a_second(const Budget& budget, std::uint64_t calls, double balance) {
  Governor governor{};
  governor.begin({}, ticks_per_ms);
  const double flushed = 0.93 * budget.share * 1e9 - static_cast<double>(calls) - balance;
  governor.advance(budget, Depth::counts, {1'000'000'000, 0, calls, 0, static_cast<std::uint64_t>(flushed), 0});
  EXPECT_NEAR(governor.balance(), balance, 1);
  return governor;
}

TEST(GovernorTest, ASpellIsCutByWhatItHasOverspent) {
  const Budget budget{0.01, 0};  // of 50 ms: 500,000 ns
  const auto limit = [&](Depth depth, double balance, std::uint64_t calls = 400'000) {
    return after_a_second(budget, calls, balance).limit(budget, depth);
  };
  EXPECT_EQ(limit(Depth::profile, -490'000), Depth::profile);
  EXPECT_EQ(limit(Depth::profile, -510'000), Depth::thinned);
  EXPECT_EQ(limit(Depth::profile, -990'000), Depth::thinned);
  EXPECT_EQ(limit(Depth::profile, -1'010'000), Depth::counts);
  EXPECT_EQ(limit(Depth::trace, -1'010'000), Depth::thinned);
  EXPECT_EQ(limit(Depth::counts, -1'010'000), Depth::counts);
  // The rate is averaged over 20 ms. 52,000 calls with a profile then cost less than 1 %.
  EXPECT_EQ(limit(Depth::profile, -1'010'000, 160'000), Depth::profile) << "it costs no more than the budget";
  // More than three times the budget is a surprise.
  EXPECT_EQ(limit(Depth::profile, -1000, 500'000), Depth::profile);
  EXPECT_EQ(limit(Depth::profile, -1000, 520'000), Depth::thinned);
  EXPECT_EQ(limit(Depth::profile, 1000, 520'000), Depth::profile);
}

// A million calls a second, of which the rate knows 1 / 1.02, at 1, 30, 60 and 85 ns; a drain takes another 30.
TEST(GovernorTest, SharesAreWhatTheBudgetAffords) {
  const double rate = 1e-3 / 1.02;
  const auto plan = [&](double share, double balance, std::uint64_t calls = 1'000'000) {
    return after_a_second({share, 0}, calls, balance).plan({share, 0}, 1'000'000);
  };
  // The balance is spent within half a second.
  const Governor::Shares some = plan(0.05, 1e7);
  EXPECT_NEAR(some.traced, (0.93 * 0.05 + 1e7 / 500e6 - 30 * rate) / ((85 + 30 - 30) * rate), 1e-6);
  EXPECT_EQ(some.measured, 1);
  const Governor::Shares all = plan(0.15, 0);
  EXPECT_EQ(all.traced, 1);
  const Governor::Shares few = plan(0.01, 2e6);
  EXPECT_EQ(few.traced, 0);
  EXPECT_NEAR(few.measured, (0.93 * 0.01 + 2e6 / 500e6 - rate) / (29 * rate), 1e-6);
  EXPECT_EQ(plan(0.01, -1e7).measured, 0.02) << "so that the profile is not empty";
  EXPECT_NEAR(plan(0.0003, -1e5, 200'000).measured, 0.25 * 0.0003 / (30 * 0.2 * rate), 1e-6)
      << "for a quarter of the budget at most";
}

TEST(GovernorTest, NothingIsDecidedBeforeItBegins) {
  Governor governor{};
  const Budget budget{0.01, 0};
  governor.advance(budget, Depth::trace, {1000, 1000, 0, 0, 0, 0});
  EXPECT_EQ(governor.balance(), 0);
  EXPECT_EQ(governor.limit(budget, Depth::trace), Depth::trace);
  EXPECT_FALSE(governor.has_saved(budget));
}

}  // namespace
}  // namespace tare::recorder

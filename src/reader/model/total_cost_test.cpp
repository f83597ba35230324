#include "reader/model/total_cost.h"

#include <gtest/gtest.h>

#include <cmath>

#include "reader/testing/synthetic.h"

namespace tare::reader {
namespace {

// A process that lives for `ticks` ns, from tick 1 on. It spends a tenth of this time in MPI_Init, and as much after
// the begin of MPI_Finalize.
Process process_of(std::uint64_t ticks) {
  Process process;
  process.record.attach = 1;
  process.record.init_enter = 1;
  process.record.init_leave = 1 + ticks / 10;
  process.record.finalize_enter = 1 + ticks - ticks / 10;
  process.end = process.record.finalize_leave = 1 + ticks;
  process.record.hook_init = 7;
  process.record.hook_finalize = 3;
  process.record.lookup_cost_ps = 4000;
  process.clock = ClockMap({1, 1}, 1, {{1 + ticks, 1 + ticks}}, 1);
  return process;
}

TEST(CostSums, NothingIsNothing) {
  const TotalCost cost = CostSums().cost();
  EXPECT_EQ(cost.calls, 0U);
  EXPECT_EQ(cost.net_share, 0);
  EXPECT_EQ(cost.wall_share, 0);
  EXPECT_EQ(cost.wrapper_error_ns, 0);
  EXPECT_EQ(CostSums().trace().policy, std::nullopt);
  EXPECT_TRUE(CostSums().trace().written);
}

// Shares are computed from measured time alone.
TEST(AccountTest, WhatWasOnlyCountedIsNotInTheTimeOfThreads) {
  Process process = process_of(10'000);
  Totals totals;
  totals.net_ticks = 1000;
  const std::int64_t net_ns = account_of(process, totals).net_ns;
  EXPECT_EQ(account_of(process, totals).threads_ns, net_ns);
  Spell& counted = process.spells[1];
  counted.measured = false;
  counted.ticks = 2000;
  counted.counted_calls = 10;
  Spell& cut = process.spells[2];
  cut.ticks = 1000;
  cut.measured_calls = cut.counted_calls = 5;
  process.spells[3].ticks = 1000;
  EXPECT_EQ(account_of(process, totals).threads_ns, net_ns - 2500);
  EXPECT_EQ(account_of(process, totals).net_ns, net_ns);
  cut.counted_ticks = 200;  // exact, whatever the number of calls
  EXPECT_EQ(account_of(process, totals).threads_ns, net_ns - 2200);
  counted.counted_ticks = 1500;
  EXPECT_EQ(account_of(process, totals).threads_ns, net_ns - 1700);
  counted.counted_ticks.reset();
  counted.ticks = 1'000'000;  // of a damaged file
  EXPECT_EQ(account_of(process, totals).threads_ns, 1000);
}

// A library may call exit() in a call of the program.
TEST(AccountTest, ACallThatHasNotReturnedCountsIfTheProcessExits) {
  Process process = process_of(10'000);
  process.record.finalize_enter = process.record.finalize_leave = 0;
  process.calls.emplace_back();
  process.calls[0].function = 1;
  process.calls[0].enter = 4001;
  for (const State state : {State::running, State::killed, State::exited}) {
    process.state = state;
    EXPECT_EQ(account_of(process, {}).mpi_ns, 6000);
    EXPECT_EQ(account_of(process, {}).unreturned_ns, 6000);
  }
  process.state = State::finished;
  EXPECT_EQ(account_of(process, {}).mpi_ns, 0);
}

// In MPI for 100 µs while calls were measured, and about as long while they were only counted: in each of ten measured
// spells, which represent one other each, for `ticks` and `other_ticks` by turns.
std::optional<std::int64_t> whole_mpi_ns(double ticks, double other_ticks) {
  const FunctionNames::Map numbers{0};
  Process process = process_of(1'000'000);
  process.functions = &numbers;
  process.record.counted_ticks = 400'000;
  format::SpellSums sums{};
  sums.site = format::all_sites;
  sums.spells = 10;
  for (int spell = 0; spell < 10; ++spell) {
    const double calls = 10, in_spell = spell % 2 == 0 ? ticks : other_ticks;
    sums.calls += calls;
    sums.ticks += in_spell;
    sums.calls_calls += 2 * calls * calls;
    sums.ticks_ticks += 2 * in_spell * in_spell;
    sums.calls_of_function += 2 * calls * calls;
    sums.ticks_of_function += 2 * in_spell * calls;
  }
  process.spell_sums.push_back(sums);
  Totals totals;
  totals.net_ticks = 100'000;
  totals.by_function[0] = {100, 100, 100'000};
  return account_of(process, totals).whole_mpi_ns;
}

TEST(AccountTest, AShareOfCountedCallsThatIsTooUncertainIsNotKnown) {
  EXPECT_NEAR(static_cast<double>(whole_mpi_ns(10'000, 10'000).value_or(0)), 200'000, 1);
  EXPECT_NEAR(static_cast<double>(whole_mpi_ns(8'000, 12'000).value_or(0)), 200'000, 1);
  EXPECT_FALSE(whole_mpi_ns(1'000, 19'000)) << "of a net time of 800 µs, it is known to some 60 µs";
}

// A budget may leave a program without spells.
TEST(AccountTest, WhatWasOnlyCountedOutsideOfSpellsIsNotInTheTimeOfThreads) {
  Process process = process_of(10'000);
  const std::int64_t net_ns = account_of(process, {}).net_ns;
  process.record.counted_ticks = 4000;
  EXPECT_EQ(account_of(process, {}).threads_ns, net_ns - 4000);
  EXPECT_EQ(account_of(process, {}).counted_ns, 4000);
  process.record.counted_since = process.record.finalize_enter - 500;
  EXPECT_EQ(account_of(process, {}).threads_ns, net_ns - 4500);
  process.record.counted_ticks = 0;
  process.record.counted_since = 1;
  EXPECT_EQ(account_of(process, {}).threads_ns, 0) << "MPI_Init is not in the net time";
}

TEST(AccountTest, TheUsersCodeIsPartOfTheCost) {
  Process process = process_of(10'000);
  const double before = account_of(process, {}).spent_ns;
  process.record.chooser_ticks = 300;
  process.record.analysis_ticks = 500;
  const Account account = account_of(process, {});
  EXPECT_EQ(account.chooser_ns, 300);
  EXPECT_EQ(account.analysis_ns, 500);
  EXPECT_EQ(account.spent_ns, before + 800);
  CostSums sums;
  for (int i = 0; i < 2; ++i) sums.add(process, {});
  EXPECT_EQ(sums.cost().chooser_ns, 600);
  EXPECT_EQ(sums.cost().analysis_ns, 1000);
}

TEST(AccountTest, WithoutMpiNetTimeIsTheLifetime) {
  Process process = process_of(10'000'000);
  process.record.attach = 5'000'001;
  process.record.before_attach_us = 3000;
  process.record.init_enter = process.record.init_leave = process.record.finalize_enter = 0;
  process.record.finalize_leave = 0;
  EXPECT_EQ(account_of(process, {}).net_ns, 8'000'000);
  EXPECT_EQ(account_of(process, {}).wall_ns, 8'000'000);
  EXPECT_EQ(account_of(process, {}).start_ns, 2'000'001);
  process.record.before_attach_us = UINT32_MAX;  // not before the clock began
  EXPECT_EQ(account_of(process, {}).net_ns, 10'000'001);
  process.record.abi = format::Abi::mpich;
  EXPECT_EQ(account_of(process, {}).net_ns, 5'000'000) << "from the first call on";
}

// Threads that only record events of the API have a share of the cost. It is compared with the time of all threads.
TEST(AccountTest, TheCostOfThreadsIsComparedWithTheirTime) {
  Process process = process_of(10'000);
  process.record.event_cost_ps = 1000;
  Totals all;
  all.api_events = 9000;  // of three threads: 9000 ns
  ASSERT_EQ(account_of(process, all).net_ns, 8000);
  Profile of_thread;
  of_thread.summary.api_events = 3000;
  of_thread.phases.resize(2);
  of_thread.phases[format::outside_phases].ticks = 8000;
  TimeOfThreads threads;
  add_thread(threads, process, of_thread, {}, 0);
  add_thread(threads, process, of_thread, {}, 0);
  of_thread.summary.api_events = 0;
  of_thread.rows.resize(1);  // without a call: it records nothing, as the threads of an MPI library
  add_thread(threads, process, of_thread, {}, 0);
  add_other_threads(all, process, threads, nullptr);
  const Account account = account_of(process, all);
  EXPECT_EQ(account.threads_ns, 8000) << "none of the others calls MPI";
  EXPECT_EQ(account.recorded_ns, 24'000);
  EXPECT_DOUBLE_EQ(account.net_share, 0.375);
  CostSums sums;
  sums.add(process, all);
  EXPECT_DOUBLE_EQ(sums.cost().net_share, 0.375);
  EXPECT_DOUBLE_EQ(sums.cost().wall_share, 9010.0 / 26'000) << "with the hooks, of all time";
  EXPECT_EQ(sums.cost().recorded_ns, 24'000);
}

// The first call of MPI of a thread is in no row until it returns.
TEST(AccountTest, AThreadInItsFirstCallCallsMpi) {
  Process process = process_of(10'000);
  format::ThreadCall call{};
  call.thread = 1;
  call.function = 1;
  call.enter = process.record.init_leave;
  process.calls = {call};
  Profile of_thread;
  of_thread.summary.number = 1;
  of_thread.phases.resize(2);
  of_thread.phases[format::outside_phases].ticks = 6000;
  const FunctionNames names;
  process.functions = &names.built_in();
  const auto other_ticks = [&] {
    TimeOfThreads threads;
    threads.is_of_rank = is_of_rank(process, of_thread, names);
    add_thread(threads, process, of_thread, {}, 0);
    Totals totals;
    add_other_threads(totals, process, threads, nullptr);
    return std::pair{totals.other_ticks, totals.other_recorded_ns};
  };
  EXPECT_EQ(other_ticks(), std::pair(std::uint64_t{6000}, std::int64_t{6000}));
  process.calls[0].function |= format::returned;
  EXPECT_EQ(other_ticks(), std::pair(std::uint64_t{0}, std::int64_t{0}));
  process.calls[0] = call;
  process.calls[0].enter = 0;
  EXPECT_EQ(other_ticks().first, 0U) << "MPI_Init is not in the net time";
}

// Of threads that may wait for work, the time counts for which they had a processor.
TEST(AccountTest, TimeOfHelpersIsProcessorTime) {
  const Process process = process_of(10'000);
  Profile of_thread;
  of_thread.phases.resize(2);
  of_thread.phases[format::outside_phases].ticks = 9000;
  format::SchedulingSums readings{};
  const auto recorded_ns = [&](std::int64_t sampled_ns, const format::SchedulingSums* sums, bool is_of_rank) {
    TimeOfThreads threads;
    threads.is_of_rank = is_of_rank;
    add_thread(threads, process, of_thread, {}, sampled_ns);
    Totals totals;
    add_other_threads(totals, process, threads, sums);
    return totals.other_recorded_ns;
  };
  EXPECT_EQ(recorded_ns(0, nullptr, false), 0) << "it records nothing";
  EXPECT_EQ(recorded_ns(400, nullptr, false), 400);
  EXPECT_EQ(recorded_ns(400, nullptr, true), 9000);
  of_thread.summary.api_events = 1;
  EXPECT_EQ(recorded_ns(0, nullptr, false), 8000) << "not known: its lifetime in the net time";
  EXPECT_EQ(recorded_ns(0, &readings, false), 8000) << "nothing was read";
  readings.observed_ns = 5000;
  readings.all.ns = 4300;
  EXPECT_EQ(recorded_ns(0, &readings, false), 700);
  EXPECT_EQ(recorded_ns(900, &readings, false), 900);
  EXPECT_EQ(recorded_ns(0, &readings, true), 8000);
  readings.all.ns = 6000;
  EXPECT_EQ(recorded_ns(0, &readings, false), 8000) << "damaged";
  readings.observed_ns = UINT64_MAX;
  EXPECT_EQ(recorded_ns(0, &readings, false), 8000);
}

// Calls of other sources and samples of stacks are recorded before MPI_Init, too: their cost is no share of the net
// time.
TEST(AccountTest, WorkOutsideTheNetTimeIsComparedWithAllTime) {
  const FunctionNames names;
  Process process = process_of(10'000);
  process.functions = &names.built_in();
  const std::vector<bool> outside = outside_net_time(names);
  Profile of_thread;
  of_thread.phases.resize(2);
  of_thread.phases[format::outside_phases].ticks = 9000;
  of_thread.rows.push_back(synthetic::profile_row("write", 1, 500, 100, 8));
  Totals all;
  add_profile(all, process, of_thread, outside);
  all.counted = 250;  // 4 ns each: 1000 ns
  ASSERT_EQ(account_of(process, all).net_ns, 8000);
  EXPECT_EQ(account_of(process, all).recorded_ns, 10'000);
  EXPECT_DOUBLE_EQ(account_of(process, all).net_share, 0.1);
  TimeOfThreads threads;
  add_thread(threads, process, of_thread, outside, 0);
  add_other_threads(all, process, threads, nullptr);
  EXPECT_EQ(account_of(process, all).recorded_ns, 19'000);
  CostSums sums;
  sums.add(process, all);
  EXPECT_DOUBLE_EQ(sums.cost().wall_share, 1010.0 / 19'000);
  Totals sampled;
  sampled.stack_samples = 1;
  EXPECT_EQ(account_of(process, sampled).recorded_ns, 10'000);
}

TEST(CostSums, SharesAreWeightedByNetTime) {
  const Process shorter = process_of(10'000), longer = process_of(30'000);
  Totals cheap, dear;
  cheap.counted = 100;  // 4 ns each: 400 ns
  dear.counted = 600;
  const double nets[] = {static_cast<double>(account_of(shorter, cheap).net_ns),
                         static_cast<double>(account_of(longer, dear).net_ns)};
  ASSERT_GT(nets[0], 0);
  CostSums sums;
  sums.add(shorter, cheap);
  sums.add(longer, dear);
  const TotalCost cost = sums.cost();
  EXPECT_EQ(cost.counted, 700U);
  EXPECT_DOUBLE_EQ(cost.lookup_ns, 4);
  EXPECT_EQ(cost.wrapper_ns, 2800);
  EXPECT_DOUBLE_EQ(cost.net_share, 2800 / (nets[0] + nets[1]));
  EXPECT_DOUBLE_EQ(cost.wall_share, (2800.0 + 2 * 10) / 40'000) << "with the hooks, of all time";
}

TEST(CostSums, TheMeanCostOfACallIsOverAllCalls) {
  const Process process = process_of(10'000);
  const auto totals_of = [](std::uint64_t calls, std::uint64_t ticks) {
    Totals totals;
    totals.calls = totals.weighed.calls[1] = calls;
    totals.weighed.weighed[1].calls = 10;
    totals.weighed.weighed[1].ticks = 10 * ticks;
    totals.weighed.weighed[1].ticks_squared = 10.0 * static_cast<double>(ticks * ticks) + 90;
    return totals;
  };
  const Totals few = totals_of(100, 20), many = totals_of(300, 60);
  CostSums sums;
  sums.add(process, few);
  sums.add(process, many);
  const TotalCost cost = sums.cost();
  EXPECT_EQ(cost.calls, 400U);
  EXPECT_EQ(cost.weighed, 20U);
  EXPECT_DOUBLE_EQ(cost.call_ns, (100 * 20 + 300 * 60) / 400.0);
  EXPECT_DOUBLE_EQ(cost.timed_call_ns, cost.call_ns);
  const double errors[] = {account_of(process, few).wrapper_error_ns, account_of(process, many).wrapper_error_ns};
  ASSERT_GT(errors[0], 0);
  ASSERT_TRUE(cost.wrapper_error_ns);
  EXPECT_DOUBLE_EQ(*cost.wrapper_error_ns, std::hypot(errors[0], errors[1]));
}

TEST(CostSums, AnErrorThatIsNotKnownOfAllIsNotKnown) {
  const Process process = process_of(10'000);
  Totals unknown;
  unknown.calls = unknown.weighed.calls[1] = 100;
  unknown.weighed.weighed[1].first_calls = 1;  // too few for an interval
  unknown.weighed.weighed[1].first_ticks = 10;
  ASSERT_TRUE(std::isnan(account_of(process, unknown).wrapper_error_ns));
  CostSums sums;
  sums.add(process, {});
  EXPECT_TRUE(sums.cost().wrapper_error_ns);
  sums.add(process, unknown);
  EXPECT_FALSE(sums.cost().wrapper_error_ns);
}

TEST(CostSums, TracesAreWrittenIfAllAre) {
  Process first = process_of(10'000), second = process_of(10'000);
  first.record.flags |= format::traced | format::drops;
  second.record.flags |= format::traced | format::not_written;
  Totals of_first, of_second;
  of_first.records = 3;
  of_first.dropped = 1;
  of_second.records = 4;
  of_second.full = format::kept_newest;
  CostSums sums;
  sums.add(first, of_first);
  EXPECT_TRUE(sums.trace().written);
  sums.add(second, of_second);
  const TotalTrace& trace = sums.trace();
  EXPECT_EQ(trace.records, 7U);
  EXPECT_EQ(trace.dropped, 1U);
  EXPECT_FALSE(trace.written);
  EXPECT_TRUE(trace.kept_newest);
  EXPECT_FALSE(trace.no_space);
  EXPECT_EQ(trace.policy, format::Policy::drop) << "that of the first";
}

}  // namespace
}  // namespace tare::reader

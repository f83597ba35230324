#include "recorder/account/weighing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "recorder/clock_cost.h"

namespace tare::recorder {
namespace {

constexpr unsigned kind = 3;

struct WeighingTest : testing::Test {
  WeighingTest() { choose_clock(); }

  // A call whose wrapper works until the clock has gone on by `own` ticks, and during which drains take `drained`.
  void call(std::uint64_t own = 0, std::uint64_t drained = 0) {
    weighing.begin_call(flushed);
    if (!weighing.is_under_way()) return;
    while (now() - weighing.begin < own) {
    }
    flushed += drained;
    weighing.end_call(kinds, kind, 0, flushed, now());
  }
  void pass_first_calls() {
    for (unsigned i = 0; i < Weighing::first_calls; ++i) call();
  }
  // Calls until one has been weighed.
  void weigh_one(std::uint64_t own, std::uint64_t drained = 0) {
    const std::uint64_t before = kinds[kind].calls + kinds[kind].interrupted;
    while (kinds[kind].calls + kinds[kind].interrupted == before) call(own, drained);
  }

  std::uint64_t flushed = 0;
  Weighing weighing{};
  format::WeighedCalls kinds[format::weighed_kinds]{};
};

TEST_F(WeighingTest, AllFirstCallsAreWeighed) {
  pass_first_calls();
  EXPECT_EQ(kinds[kind].first_calls, Weighing::first_calls);
  EXPECT_EQ(kinds[kind].calls + kinds[kind].interrupted, 0U);
}

TEST_F(WeighingTest, OfTheOthersOneInSomeHundreds) {
  pass_first_calls();
  constexpr unsigned count = 400'000;
  for (unsigned i = 0; i < count; ++i) call();
  const double weighed = static_cast<double>(kinds[kind].calls + kinds[kind].interrupted);
  const double expected = static_cast<double>(count) / Weighing::mean_gap;
  // Gaps are uniform: their deviation is the mean over the root of 3.
  EXPECT_NEAR(weighed, expected, 5 * std::sqrt(expected / 3));
}

TEST_F(WeighingTest, TheTimeOfTheWrapperIsFound) {
  pass_first_calls();
  const std::uint64_t own = about_ticks(Weighing::longest_ns / 8);
  for (int i = 0; i < 20; ++i) weigh_one(own);
  ASSERT_GT(kinds[kind].calls, 0U);
  EXPECT_GE(kinds[kind].ticks, own * kinds[kind].calls);
  EXPECT_GE(kinds[kind].ticks_squared, static_cast<double>(own * own * kinds[kind].calls));
}

// The code that notes a weight is not in the caches when it is needed: it runs behind the reading that ends the
// wrapper.
TEST_F(WeighingTest, WhatNotesTheWeightIsNotInIt) {
  pass_first_calls();
  weighing.weigh_next();
  weighing.begin_call(flushed);
  ASSERT_TRUE(weighing.is_under_way());
  const std::uint64_t begin = weighing.begin;
  const std::uint64_t end = now();
  while (now() - end < 5000) {
  }
  weighing.end_call(kinds, kind, 0, flushed, end);
  ASSERT_EQ(kinds[kind].calls + kinds[kind].interrupted, 1U);
  if (kinds[kind].calls == 1) {
    EXPECT_EQ(kinds[kind].ticks, end - begin);
  }
}

TEST_F(WeighingTest, DrainsAreLeftOut) {
  pass_first_calls();
  weigh_one(5000, std::uint64_t{1} << 40);
  EXPECT_EQ(kinds[kind].ticks, 0U);
}

TEST_F(WeighingTest, OtherCodeThatTheWrapperCallsIsLeftOut) {
  pass_first_calls();
  weighing.leave_out(1'000'000);  // of no call that is weighed
  while (kinds[kind].calls + kinds[kind].interrupted == 0) {
    weighing.begin_call(flushed);
    if (!weighing.is_under_way()) continue;
    while (now() - weighing.begin < 90'000) {
    }
    weighing.leave_out(80'000);
    weighing.end_call(kinds, kind, 0, flushed, now());
  }
  if (kinds[kind].calls == 0) return;  // it was interrupted
  EXPECT_NEAR(static_cast<double>(kinds[kind].ticks), 10'000, 5'000);
}

TEST_F(WeighingTest, InterruptedCallsAreCountedOnly) {
  pass_first_calls();
  weigh_one(2 * about_ticks(Weighing::longest_ns));
  EXPECT_EQ(kinds[kind].interrupted, 1U);
  EXPECT_EQ(kinds[kind].ticks, 0U);
}

// Left by an exception, say.
TEST_F(WeighingTest, ACallThatDoesNotReturnIsForgotten) {
  weighing.begin_call(flushed);
  ASSERT_TRUE(weighing.is_under_way());
  const std::uint64_t left_at = now();
  call();
  EXPECT_GE(weighing.begin, left_at);
  EXPECT_EQ(kinds[kind].first_calls, 1U);
}

TEST_F(WeighingTest, PollsThatReadNoClockAreWeighedWithoutTheReadings) {
  pass_first_calls();
  const std::uint64_t before = kinds[kind].calls;
  do {
    weighing.begin_call(flushed);
    if (weighing.is_under_way()) weighing.end_untimed_call(kinds, kind, 0, std::uint64_t{flushed}, now());
  } while (kinds[kind].calls == before);
  EXPECT_LT(kinds[kind].ticks, about_ticks(Weighing::longest_ns));
}

// Of two readings, some processors execute the second at once after the first, so the least difference is no measure.
TEST_F(WeighingTest, AReadingOfTheClockTakesAsLongAsOneOfMany) {
  constexpr unsigned many = 200;
  std::uint64_t least = UINT64_MAX;
  for (unsigned round = 0; round < 100; ++round) {
    const std::uint64_t start = now();
    for (unsigned i = 1; i < many; ++i) now();
    least = std::min(least, now() - start);
  }
  for (unsigned i = 0; i < 100; ++i) EXPECT_GE(2 * many * reading_ticks(), least);
}

TEST_F(WeighingTest, ThereIsAKindForEveryFunction) {
  pass_first_calls();
  weighing.weigh_next();
  weighing.begin_call(flushed);
  weighing.end_call(kinds, 250, 0, flushed, now());
  EXPECT_EQ(kinds[static_cast<unsigned>(format::CallClass::other)].calls +
                kinds[static_cast<unsigned>(format::CallClass::other)].interrupted,
            1U);
}

}  // namespace
}  // namespace tare::recorder

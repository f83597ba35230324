#include "recorder/timing_sample.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "recorder/commit.h"
#include "recorder/testing/made_location.h"

namespace tare::recorder {
namespace {

constexpr std::uint16_t function = 7;

// Calls of one site, as a wrapper makes them, that take as long as the test says.
struct TimingSampleTest : testing::Test {
  format::ProfileRow& call(std::uint64_t ticks, std::uint64_t bytes = 8, std::uint32_t site = 3) {
    Call made{};
    made.function = function;
    made.site = site;
    made.bytes = bytes;
    if (location.need_not_be_timed(known)) {
      --known.untimed;
      return commit<may_be_untimed, false>(location, made, known);
    }
    made.enter = 1000;
    made.leave = made.enter + ticks;
    ++timed;
    format::ProfileRow& row = commit<may_be_untimed>(location, made, known);
    location.choose_untimed(known, row);
    return row;
  }
  unsigned histogram_of(const format::ProfileRow& row) const {
    unsigned all = 0;
    for (const std::uint32_t count : row.histogram) all += count;
    return all;
  }

  MadeLocation made_location;
  Location& location = made_location.location;
  KnownRows known{};
  std::uint64_t timed = 0;
};

TEST_F(TimingSampleTest, TheFirstCallsOfARowAreTimed) {
  for (unsigned i = 0; i < TimingSample::first_calls; ++i) EXPECT_EQ(call(10).estimated, 0U);
  EXPECT_EQ(call(10).estimated, 1U);
}

TEST_F(TimingSampleTest, CallsAndBytesAreExactAndOneInNineIsTimed) {
  constexpr unsigned count = 90'000;
  format::ProfileRow* row = nullptr;
  for (unsigned i = 0; i < count; ++i) row = &call(10);
  EXPECT_EQ(row->calls, count);
  EXPECT_EQ(row->bytes, 8U * count);
  EXPECT_EQ(row->estimated, count - timed);
  EXPECT_LE(row->pending, TimingSample::max_untimed);
  EXPECT_EQ(histogram_of(*row) + row->pending, count);
  const double expected = static_cast<double>(count) / 9;
  EXPECT_NEAR(static_cast<double>(timed), expected, 0.05 * expected);
}

TEST_F(TimingSampleTest, TheTimeIsEstimatedWithoutBias) {
  std::mt19937_64 random(5);
  // Nearly all are short; one in a hundred takes a hundred times as long.
  std::uniform_int_distribution<std::uint64_t> brief(50, 150);
  std::uniform_int_distribution<int> rare(0, 99);
  constexpr unsigned count = 200'000;
  double truth = 0;
  double squares = 0;
  format::ProfileRow* row = nullptr;
  for (unsigned i = 0; i < count; ++i) {
    const std::uint64_t ticks = brief(random) * (rare(random) == 0 ? 100 : 1);
    truth += static_cast<double>(ticks);
    squares += static_cast<double>(ticks) * static_cast<double>(ticks);
    row = &call(ticks);
  }
  const double mean = truth / count;
  const double deviation = std::sqrt(squares / count - mean * mean);
  const auto sampled = static_cast<double>(timed);
  // One that is timed stands for those before it, of which there are not as many each time: that adds to the variance.
  const double error = count * deviation / std::sqrt(sampled) * 1.2;
  EXPECT_NEAR(static_cast<double>(row->ticks + row->pending * mean_ticks(*row)), truth, 4 * error);
  EXPECT_NEAR(row->ticks_squared, squares, 0.2 * squares);
}

TEST_F(TimingSampleTest, ARowIsNeverWithoutATime) {
  for (unsigned i = 0; i < 1000; ++i) call(20);
  while (!location.need_not_be_timed(known)) call(20);
  const format::ProfileRow& other = call(0, 1 << 20);
  EXPECT_EQ(other.calls, 1U);
  EXPECT_EQ(other.estimated, 1U);
  EXPECT_EQ(other.pending, 0U);
  EXPECT_EQ(other.ticks, 20U) << "as long as the others of the site";
  EXPECT_EQ(other.ticks_min, 20U);
  EXPECT_FALSE(location.need_not_be_timed(known)) << "the next ones are";
}

// With a budget, only some of the brief calls that may wait are timed. Their waiting time is estimated, too.
TEST_F(TimingSampleTest, BriefCallsAreThinnedOutOthersAreNot) {
  choose_clock();
  const std::uint64_t brief = about_ticks(TimingSample::brief_ns / 10),
                      lasting = about_ticks(100 * TimingSample::brief_ns);
  location.thins = true;
  for (const std::uint64_t ticks : {brief, lasting}) {
    KnownRows of_site{};
    std::uint64_t measured = 0, waited = 0;
    constexpr unsigned count = 9'000;
    for (unsigned i = 0; i < count; ++i) {
      Call made{};
      made.function = function;
      made.site = static_cast<std::uint32_t>(ticks);
      made.bytes = 8;
      made.received = 16;
      if (location.need_not_be_timed(of_site)) {
        --of_site.untimed;
        commit<may_be_thinned | exchanges, false>(location, made, of_site);
        continue;
      }
      made.leave = ticks;
      ++measured;
      const format::ProfileRow& row = commit<may_be_thinned | exchanges>(location, made, of_site);
      waited += ticks * made.stands_for;
      location.choose_if_brief(of_site, row);
    }
    const format::ProfileRow& row = location.profile.rows[of_site.by_size[of_site.last]];
    EXPECT_EQ(row.calls, count);
    EXPECT_EQ(row.bytes, 8U * count);
    EXPECT_EQ(row.received, 16U * count);
    EXPECT_EQ(row.ticks, (count - row.pending) * ticks);
    EXPECT_EQ(waited, row.ticks);
    if (ticks == brief)
      EXPECT_NEAR(static_cast<double>(measured), count / 9.0, 0.15 * count / 9.0);
    else
      EXPECT_EQ(measured, count);
  }
}

TEST_F(TimingSampleTest, WithoutABudgetNothingIsThinnedOut) {
  for (unsigned i = 0; i < 1000; ++i) {
    Call made{};
    made.function = function;
    made.site = 3;
    made.leave = 10;
    location.choose_if_brief(known, commit<may_be_thinned>(location, made, known));
    EXPECT_FALSE(location.need_not_be_timed(known));
  }
}

TEST_F(TimingSampleTest, EveryCallOfATraceIsTimed) {
  for (unsigned i = 0; i < TimingSample::first_calls; ++i) call(10);
  location.mode = Mode::in_phase;
  EXPECT_FALSE(location.need_not_be_timed(known));
  location.mode = Mode::usual;
  location.events.limit = 1;
  EXPECT_FALSE(location.need_not_be_timed(known));
  location.events.limit = 0;
  EXPECT_TRUE(location.need_not_be_timed(known));
}

}  // namespace
}  // namespace tare::recorder

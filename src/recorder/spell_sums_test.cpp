#include "recorder/spell_sums.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "recorder/testing/made_location.h"

namespace tare::recorder {
namespace {

constexpr std::uint16_t send = 7, receive = 9;

struct SpellSumsTest : testing::Test {
  SpellSumsTest() {
    shared.summary.rows = 4;
    rows[1].function = rows[2].function = send;
    rows[3].function = receive;
    rows[1].site = 11;
    rows[2].site = 12;
    rows[3].site = 13;
  }

  const format::SpellSums& sums_of(std::uint32_t function, std::uint32_t site) const {
    for (std::uint32_t i = 0; i < table->entries; ++i)
      if (table->sums[i].function == function && table->sums[i].site == site) return table->sums[i];
    ADD_FAILURE() << "no sums of function " << function << " at site " << site;
    return table->sums[0];
  }

  void call(std::size_t row, std::uint64_t ticks, std::uint64_t bytes) {
    ++rows[row].calls;
    rows[row].ticks += ticks;
    rows[row].bytes += bytes;
  }

  MadeLocation made;
  Location& location = made.location;
  format::LocationHeader& shared = location.shared();
  format::ProfileRow* const rows = location.profile.rows;
  std::unique_ptr<format::SpellSumsTable> table = std::make_unique<format::SpellSumsTable>();
  SpellSummer summer{};
};

TEST_F(SpellSumsTest, RowsOfAFunctionAreAddedUpAndWeighted) {
  call(1, 1000, 1000);  // of before
  summer.begin(location, 0.25);
  call(1, 10, 100);
  call(2, 30, 300);
  summer.end(location, table.get());
  call(2, 5000, 5000);  // between spells
  summer.begin(location, 0.5);
  call(1, 20, 0);
  call(3, 7, 0);
  summer.end(location, table.get());
  ASSERT_EQ(table->entries, 5U);
  const format::SpellSums& sends = sums_of(send, format::all_sites);
  EXPECT_EQ(sends.spells, 2U);
  // Weights 4 and 2.
  EXPECT_EQ(sends.calls, 3 * 2 + 1 * 1);
  EXPECT_EQ(sends.ticks, 3 * 40 + 1 * 20);
  EXPECT_EQ(sends.bytes, 3 * 400);
  EXPECT_EQ(sends.calls_calls, 12 * 4 + 2 * 1);
  EXPECT_EQ(sends.calls_of_function, sends.calls_calls);
  EXPECT_EQ(sends.ticks_of_function, 12 * 2 * 40 + 2 * 20);
  EXPECT_EQ(sends.ticks_ticks, 12 * 40 * 40 + 2 * 20 * 20);
  EXPECT_EQ(sends.bytes_of_function, 12 * 2 * 400);
  EXPECT_EQ(sends.bytes_bytes, 12 * 400 * 400);
  EXPECT_EQ(sums_of(receive, format::all_sites).ticks, 7);
}

TEST_F(SpellSumsTest, CallSitesHaveSumsWithThoseOfTheirFunction) {
  summer.begin(location, 0.25);
  call(1, 10, 100);
  call(2, 30, 300);
  call(2, 30, 300);
  summer.end(location, table.get());
  rows[4].function = send;  // the same site, with another size of messages
  rows[4].site = 12;
  shared.summary.rows = 5;
  summer.begin(location, 0.25);
  call(4, 5, 0);
  summer.end(location, table.get());
  ASSERT_EQ(table->entries, 3U);
  const format::SpellSums& sends = sums_of(send, 12);
  EXPECT_EQ(sends.spells, 2U);
  EXPECT_EQ(sends.calls, 3 * 2 + 3 * 1);
  EXPECT_EQ(sends.ticks, 3 * 60 + 3 * 5);
  EXPECT_EQ(sends.bytes, 3 * 600);
  EXPECT_EQ(sends.calls_calls, 12 * 4 + 12 * 1);
  EXPECT_EQ(sends.ticks_ticks, 12 * 60 * 60 + 12 * 5 * 5);
  EXPECT_EQ(sends.bytes_bytes, 12 * 600 * 600);
  EXPECT_EQ(sends.calls_of_function, 12 * 2 * 3 + 12 * 1);
  EXPECT_EQ(sends.ticks_of_function, 12 * 60 * 3 + 12 * 5);
  EXPECT_EQ(sends.bytes_of_function, 12 * 600 * 3);
  EXPECT_EQ(sums_of(send, 11).spells, 1U);
}

// The call that ends a spell is measured in all spells, so it represents no others.
TEST_F(SpellSumsTest, TheCallThatEndsASpellIsLeftOut) {
  summer.begin(location, 0.5);
  call(1, 10, 100);
  call(1, 40, 8);
  Location other{};
  other.profile = location.profile;
  summer.leave_out(other, rows[2], 10, 100);  // of another thread
  summer.leave_out(location, rows[1], 40, 8);
  summer.end(location, table.get());
  EXPECT_EQ(sums_of(send, 11).calls, 1);
  EXPECT_EQ(sums_of(send, 11).ticks, 10);
  EXPECT_EQ(sums_of(send, 11).bytes, 100);
  summer.begin(location, 0.5);
  call(3, 40, 8);
  summer.leave_out(location, rows[3], 40, 8);
  summer.end(location, table.get());
  EXPECT_EQ(table->entries, 2U) << "nothing is left of it";
}

// A call of before that was not timed counts with the mean of its row, until one that is timed stands for it.
TEST_F(SpellSumsTest, WhatWasNotTimedMayTurnOutToHaveBeenShorter) {
  call(1, 100, 0);
  rows[1].calls += 10;
  rows[1].pending = 10;
  summer.begin(location, 0.5);
  settle(rows[1], 20);
  call(1, 20, 0);
  summer.end(location, table.get());
  EXPECT_EQ(sums_of(send, 11).calls, 1);
  EXPECT_EQ(sums_of(send, 11).ticks, 20 - 10 * 80);
}

TEST_F(SpellSumsTest, WhatHasNotBegunDoesNotEnd) {
  call(1, 10, 100);
  summer.end(location, table.get());
  summer.begin(location, 0.5);
  summer.reset();
  summer.end(location, table.get());
  EXPECT_EQ(table->entries, 0U);
}

// A forked child has its own rows and its own table.
TEST_F(SpellSumsTest, AForkedChildBeginsAnew) {
  call(1, 10, 100);
  summer.begin(location, 0.5);
  call(1, 10, 100);
  summer.end(location, table.get());
  summer.begin(location, 0.5);
  summer.reset();
  *table = {};
  rows[1].ticks = rows[1].bytes = 0;
  rows[1].function = receive;
  summer.begin(location, 0.5);
  call(1, 30, 7);
  summer.end(location, table.get());
  ASSERT_EQ(table->entries, 2U);
  EXPECT_EQ(sums_of(receive, 11).calls, 1);
  EXPECT_EQ(sums_of(receive, 11).ticks, 30);
  EXPECT_EQ(sums_of(receive, 11).bytes, 7);
}

TEST_F(SpellSumsTest, FunctionsBeyondTheTableAreLeftOut) {
  table->entries = format::spell_sums_capacity;
  summer.begin(location, 0.5);
  call(1, 10, 100);
  summer.end(location, table.get());
  EXPECT_EQ(table->entries, format::spell_sums_capacity);
}

TEST_F(SpellSumsTest, SitesLeaveRoomForFunctions) {
  table->entries = format::spell_sums_capacity - format::spell_sums_for_functions;
  for (std::uint32_t i = 0; i < table->entries; ++i) table->sums[i].function = receive;
  summer.begin(location, 0.5);
  call(1, 10, 100);
  call(2, 10, 100);
  summer.end(location, table.get());
  ASSERT_EQ(table->entries, format::spell_sums_capacity - format::spell_sums_for_functions + 1);
  EXPECT_EQ(sums_of(send, format::all_sites).calls, 2);
}

TEST_F(SpellSumsTest, CallsBehindACutAreAddedToTheirFunctions) {
  shared.lookups[send] = 100;
  summer.begin(location, 0.25);
  call(1, 10, 100);
  summer.cut(location);
  shared.lookups[send] = 130;
  summer.cut(location);  // it was measured again for a while, and cut again
  shared.lookups[send] = 140;
  shared.lookups[receive] = 1;
  summer.end(location, table.get());
  EXPECT_EQ(sums_of(send, format::all_sites).behind_cuts, 40U);
  EXPECT_EQ(sums_of(receive, format::all_sites).behind_cuts, 1U);
  EXPECT_EQ(sums_of(send, 11).behind_cuts, 0U);
  shared.lookups[send] = 1000;
  summer.begin(location, 0.25);
  summer.end(location, table.get());
  EXPECT_EQ(sums_of(send, format::all_sites).behind_cuts, 40U);
  // A spell that represents no others can be cut, too.
  summer.cut(location);
  shared.lookups[send] += UINT32_MAX;
  summer.end(location, table.get());
  EXPECT_EQ(sums_of(send, format::all_sites).behind_cuts, UINT32_MAX);
}

}  // namespace
}  // namespace tare::recorder

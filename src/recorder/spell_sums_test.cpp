#include "recorder/spell_sums.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "recorder/location.h"

namespace tare::recorder {
namespace {

constexpr std::uint16_t send = 7, receive = 9;

struct SpellSumsTest : testing::Test {
  SpellSumsTest() {
    location.shared = shared.get();
    location.rows = rows.data();
    shared->summary.rows = 4;
    rows[1].function = rows[2].function = send;
    rows[3].function = receive;
  }

  void call(std::size_t row, std::uint64_t ticks, std::uint64_t bytes) {
    ++rows[row].calls;
    rows[row].ticks += ticks;
    rows[row].bytes += bytes;
  }

  std::vector<format::ProfileRow> rows = std::vector<format::ProfileRow>(4);
  std::unique_ptr<format::LocationHeader> shared = std::make_unique<format::LocationHeader>();
  std::unique_ptr<format::SpellSumsTable> table = std::make_unique<format::SpellSumsTable>();
  Location location{};
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
  ASSERT_EQ(table->functions, 2U);
  const format::SpellSums& sends = table->sums[0];
  EXPECT_EQ(sends.function, send);
  EXPECT_EQ(sends.spells, 2U);
  // Weights 4 and 2.
  EXPECT_EQ(sends.calls, 3 * 2 + 1 * 1);
  EXPECT_EQ(sends.ticks, 3 * 40 + 1 * 20);
  EXPECT_EQ(sends.bytes, 3 * 400);
  EXPECT_EQ(sends.calls_calls, 12 * 4 + 2 * 1);
  EXPECT_EQ(sends.calls_ticks, 12 * 2 * 40 + 2 * 20);
  EXPECT_EQ(sends.ticks_ticks, 12 * 40 * 40 + 2 * 20 * 20);
  EXPECT_EQ(sends.calls_bytes, 12 * 2 * 400);
  EXPECT_EQ(sends.bytes_bytes, 12 * 400 * 400);
  EXPECT_EQ(table->sums[1].function, receive);
  EXPECT_EQ(table->sums[1].ticks, 7);
}

TEST_F(SpellSumsTest, WhatHasNotBegunDoesNotEnd) {
  call(1, 10, 100);
  summer.end(location, table.get());
  summer.begin(location, 0.5);
  summer.forget();
  summer.end(location, table.get());
  EXPECT_EQ(table->functions, 0U);
}

TEST_F(SpellSumsTest, FunctionsBeyondTheTableAreLeftOut) {
  table->functions = format::spell_sums_capacity;
  summer.begin(location, 0.5);
  call(1, 10, 100);
  summer.end(location, table.get());
  EXPECT_EQ(table->functions, format::spell_sums_capacity);
}

}  // namespace
}  // namespace tare::recorder

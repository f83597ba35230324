#include "tared/boi/spot_book.h"

#include <gtest/gtest.h>

namespace tare::tared {
namespace {

constexpr std::uint64_t second = 1'000'000'000;

Round late_by(std::int64_t delay_ns) {
  Round round;
  round.first_offload_ns = 5;
  round.arrived_ns = 5 + delay_ns;
  return round;
}

TEST(SpotBook, KnowsNothingAtFirst) {
  SpotBook book;
  EXPECT_FALSE(book.take_update(second));
  book.round(late_by(7));
  EXPECT_FALSE(book.take_update(2 * second)) << "of profiles of no known size";
}

TEST(SpotBook, DelaysAreToldOnceASecondAndWhatIsFoundAtOnce) {
  SpotBook book;
  book.events(10);
  book.round(late_by(1000));
  book.round(late_by(3000));
  const auto first = book.take_update(5 * second);
  ASSERT_TRUE(first);
  ASSERT_EQ(first->count, 1U);
  EXPECT_EQ(first->events, 10U);
  EXPECT_EQ(first->of[0].delay_ns, 2000);
  EXPECT_LT(first->of[0].boi_ns, 0);
  book.round(late_by(1000));
  EXPECT_FALSE(book.take_update(5 * second + 1));
  book.found({4e6, 1e5, false, {2e6, 3e4}});
  const auto found = book.take_update(5 * second + 2);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->of[0].boi_ns, 4e6);
  EXPECT_EQ(found->of[0].boi_spread_ns, 1e5);
  EXPECT_EQ(found->of[0].rest_ns, 2e6);
  EXPECT_EQ(found->of[0].rest_deviation_ns, 3e4);
  EXPECT_FALSE(book.take_update(9 * second)) << "nothing is new";
}

TEST(SpotBook, EachSizeIsKnownForItself) {
  SpotBook book;
  for (const std::uint32_t events : {40U, 10U, 20U, 10U}) {
    book.events(events);
    book.found({1000.0 * events, 0, false, {}});
  }
  const auto told = book.take_update(second);
  ASSERT_TRUE(told);
  ASSERT_EQ(told->count, 3U);
  EXPECT_EQ(told->events, 10U);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(told->of[i].boi_ns, 1000.0 * told->of[i].events);
  EXPECT_EQ(told->of[0].events, 10U);
  EXPECT_EQ(told->of[2].events, 40U);
}

TEST(SpotBook, TheOldestSizeGivesWay) {
  SpotBook book;
  for (std::uint32_t events = 1; events <= 10; ++events) {
    book.events(events);
    book.found({1, 0, true, {}});
  }
  const auto told = book.take_update(second);
  ASSERT_TRUE(told);
  EXPECT_EQ(told->count, 8U);
  EXPECT_EQ(told->of[0].events, 3U);
  EXPECT_EQ(told->of[0].is_bound, 1U);
}

format::SweetSpot of_size(std::uint32_t events, double boi_ns) {
  format::SweetSpot spot;
  spot.events = events;
  spot.boi_ns = boi_ns;
  spot.direct_ns = events;
  return spot;
}

TEST(SpotBook, WhatWasFoundBeforeStandsWhereThisRunHasFoundNothing) {
  SpotBook book;
  book.cached({of_size(64, 6e6), of_size(16, 1e6), of_size(32, 3e6)});
  const auto first = book.take_update(second);
  ASSERT_TRUE(first) << "it is told at once, before the first round";
  EXPECT_EQ(first->events, 0U);
  ASSERT_EQ(first->count, 3U);
  EXPECT_EQ(first->of[0].events, 16U);
  EXPECT_EQ(first->of[0].source, format::SpotSource::cached);
  EXPECT_FALSE(book.last_found());
  book.events(32);
  book.round(late_by(1000));
  const auto with_delay = book.take_update(3 * second);
  ASSERT_TRUE(with_delay);
  ASSERT_EQ(with_delay->count, 3U);
  EXPECT_EQ(with_delay->of[1].boi_ns, 3e6);
  EXPECT_EQ(with_delay->of[1].delay_ns, 1000);
  EXPECT_EQ(with_delay->of[1].source, format::SpotSource::cached);
  book.found({4e6, 0, false, {}});
  const auto found = book.take_update(3 * second);
  ASSERT_TRUE(found);
  ASSERT_EQ(found->count, 3U);
  EXPECT_EQ(found->of[1].boi_ns, 4e6);
  EXPECT_EQ(found->of[1].source, format::SpotSource::measured);
  EXPECT_EQ(found->of[1].direct_ns, 32);
  EXPECT_EQ(found->of[2].source, format::SpotSource::cached);
  ASSERT_TRUE(book.last_found());
  EXPECT_EQ(book.last_found()->events, 32U);
  book.cached({});
  ASSERT_TRUE(book.take_update(4 * second));
}

TEST(SpotBook, OfManySizesTheFirstAndTheLastAreKept) {
  SpotBook book;
  std::vector<format::SweetSpot> many;
  for (std::uint32_t events = 100; events > 0; --events) many.push_back(of_size(events, events));
  book.cached(many);
  const auto told = book.take_update(second);
  ASSERT_TRUE(told);
  EXPECT_LE(told->count, 16U);
  EXPECT_GE(told->count, 8U);
  EXPECT_EQ(told->of[0].events, 1U);
  EXPECT_EQ(told->of[told->count - 1].events, 100U);
}

}  // namespace
}  // namespace tare::tared

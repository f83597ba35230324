#include "monitor/cadence.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace tare::monitor {
namespace {

TEST(Cadence, TakesEachKthPoint) {
  Cadence cadence(3);
  for (std::uint64_t point = 1; point < 20; ++point) EXPECT_EQ(cadence.takes(point, 0), point % 3 == 0) << point;
}

// However late before its point a rank sees the word, all take the same points.
TEST(Cadence, RanksThatAreFarApartAgree) {
  std::minstd_rand random(5);
  for (int repeat = 0; repeat < 200; ++repeat) {
    const std::uint64_t from = 10 + random() % 90;
    const std::uint64_t every = 1 + random() % 9;
    std::vector<std::uint64_t> expected;
    for (std::uint64_t point = 1; point <= 200; ++point)
      if (point < from ? point % 4 == 0 : (point - from) % every == 0) expected.push_back(point);
    for (int rank = 0; rank < 8; ++rank) {
      const std::uint64_t seen_at = random() % (from + 1);
      Cadence cadence(4);
      std::vector<std::uint64_t> taken;
      for (std::uint64_t point = 1; point <= 200; ++point)
        if (cadence.takes(point, point < seen_at ? 0 : Cadence::word(from, every))) taken.push_back(point);
      EXPECT_EQ(taken, expected) << "seen at " << seen_at << ", from " << from;
    }
  }
}

TEST(Cadence, OneThatIsToldLateJoinsTheOthers) {
  Cadence early(1);
  Cadence late(1);
  const std::uint64_t word = Cadence::word(10, 7);
  for (std::uint64_t point = 1; point < 100; ++point) {
    const bool taken = early.takes(point, word);
    EXPECT_TRUE(late.takes(point, point < 40 ? 0 : word) == taken || point < 40) << point;
  }
}

TEST(Cadence, AWordOfNoneIsNone) {
  Cadence cadence(2);
  for (std::uint64_t point = 1; point < 9; ++point) EXPECT_EQ(cadence.takes(point, point << 24U), point % 2 == 0);
}

TEST(Cadence, WithOnceOnlyThePointOfAWordIsTaken) {
  Cadence cadence(Cadence::once);
  EXPECT_EQ(cadence.last(5, 0), 0U);
  EXPECT_FALSE(cadence.takes(Cadence::once, 0));
  const std::uint64_t word = Cadence::word(20, Cadence::once);
  EXPECT_EQ(cadence.last(10, word), 0U) << "not yet";
  EXPECT_EQ(cadence.last(23, word), 20U) << "the rank made no call in between";
  EXPECT_EQ(cadence.last(20 + 3 * Cadence::once, word), 20U);
  EXPECT_EQ(cadence.last(50'000'000, Cadence::word(40'000'000, Cadence::once)), 40'000'000U);
}

TEST(Cadence, AProcessThatStartsLaterHasNoPartInARoundRequestedBefore) {
  Cadence cadence(Cadence::once);
  EXPECT_EQ(cadence.last(30, Cadence::word(20, Cadence::once)), 0U);
  EXPECT_EQ(cadence.last(41, Cadence::word(41, Cadence::once)), 41U);
}

}  // namespace
}  // namespace tare::monitor

#include "recorder/repetition.h"

#include <gtest/gtest.h>

namespace tare::recorder {
namespace {

// An iteration of 6 calls at 3 sites, during which requests are under way up to the fourth, and which lasts 1 ms.
struct Iterations {
  std::uint64_t calls = 0;
  void note(Repetition& repetition) {
    const unsigned place = calls % 6;
    const std::uint64_t ns = 1'000'000'000 + calls / 6 * 1'000'000 + place * 1'000;
    ++calls;
    repetition.note(place / 2, calls, ns, place == 3 || place == 4);
  }
};

TEST(RepetitionTest, IsKnownAfterASecondOrManyCalls) {
  static Repetition repetition;
  Iterations program;
  std::uint64_t calls = 0;
  for (; !repetition.is_known(); ++calls) repetition.note(7, calls, calls * 20'000'000, true);
  EXPECT_EQ(calls, 64);
  EXPECT_EQ(repetition.period(), 1);
  EXPECT_EQ(repetition.mean_ns(), 20'000'000);
  repetition.reset();
  while (!repetition.is_known()) program.note(repetition);
  EXPECT_EQ(program.calls, Rhythm::most);
  EXPECT_EQ(repetition.period(), 6);
  EXPECT_NEAR(static_cast<double>(repetition.mean_ns()), 1e6, 1e4);
}

TEST(RepetitionTest, NextIsWhereNoRequestIsUnderWay) {
  static Repetition repetition;
  Iterations program;
  while (!repetition.is_known()) program.note(repetition);
  for (std::uint64_t calls = program.calls; calls < program.calls + 20; ++calls) {
    const std::uint64_t next = repetition.next(calls);
    EXPECT_GE(next, calls);
    EXPECT_LT(next, calls + 6);
    EXPECT_EQ((next - 1) % 6, 3) << "the last such call of the 4,096";
  }
}

TEST(RepetitionTest, AnExtraCallMovesThePlace) {
  static Repetition repetition;
  Iterations program;
  while (!repetition.is_known()) program.note(repetition);
  std::uint64_t place = repetition.next(program.calls + 1);
  EXPECT_TRUE(repetition.is_at_place(place, true));
  EXPECT_EQ(repetition.next(place + 1), place + 6);
  place += 6;
  EXPECT_FALSE(repetition.is_at_place(place, false));
  EXPECT_FALSE(repetition.is_at_place(place + 1, false));
  EXPECT_TRUE(repetition.is_at_place(place + 2, true));
  EXPECT_EQ(repetition.next(place + 3), place + 8);
}

TEST(RepetitionTest, WhereRequestsAreAlwaysUnderWayItIsAnyPlace) {
  static Repetition repetition;
  Iterations program;
  while (!repetition.is_known()) program.note(repetition);
  const std::uint64_t place = repetition.next(program.calls + 1);
  for (unsigned tried = 0; tried < 5; ++tried) EXPECT_FALSE(repetition.is_at_place(place + tried, false));
  EXPECT_TRUE(repetition.is_at_place(place + 5, false));
  EXPECT_TRUE(repetition.is_at_place(place + 11, false));
}

}  // namespace
}  // namespace tare::recorder

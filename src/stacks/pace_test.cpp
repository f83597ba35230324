#include "stacks/pace.h"

#include <gtest/gtest.h>

namespace tare::stacks {
namespace {

constexpr std::uint64_t ms = 1'000'000;

TEST(Pace, IsThatOfTheUserWithoutABudgetOrWithinIt) {
  Pace pace{};
  pace.begin(10 * ms);
  EXPECT_FALSE(pace.note_cost(ms, 0));
  EXPECT_EQ(pace.interval_ns(), 10 * ms);
  pace.begin(10 * ms);
  EXPECT_FALSE(pace.note_cost(5000, 0.001));
  EXPECT_EQ(pace.interval_ns(), 10 * ms);
}

TEST(Pace, IsSlowedUntilSamplesTakeTheirShareAtMost) {
  Pace pace{};
  pace.begin(10 * ms);
  EXPECT_TRUE(pace.note_cost(5000, 0.0001));  // of 50 ms
  EXPECT_EQ(pace.interval_ns(), 80 * ms);
  EXPECT_FALSE(pace.note_cost(5000, 0.0001));
}

TEST(Pace, BecomesFasterWhenSamplesTakeLess) {
  Pace pace{};
  pace.begin(10 * ms);
  pace.note_cost(5000, 0.0001);
  for (int i = 0; i < 200; ++i) pace.note_cost(1500, 0.0001);
  EXPECT_EQ(pace.interval_ns(), 40 * ms) << "four times what is needed is halved";
  for (int i = 0; i < 200; ++i) pace.note_cost(10, 0.0001);
  EXPECT_EQ(pace.interval_ns(), 10 * ms) << "never faster than the user asks";
}

TEST(Pace, IsNotSlowedMuchByASampleThatWasInterrupted) {
  Pace pace{};
  pace.begin(10 * ms);
  pace.note_cost(500, 0.0001);
  EXPECT_FALSE(pace.note_cost(50 * ms, 0.0001)) << "it counts as eight times the mean";
  EXPECT_EQ(pace.interval_ns(), 10 * ms);
}

TEST(Pace, HasAnEnd) {
  Pace pace{};
  pace.begin(ms);
  EXPECT_TRUE(pace.note_cost(1000 * ms, 1e-9));
  EXPECT_LE(pace.interval_ns(), 20'000 * ms);
}

}  // namespace
}  // namespace tare::stacks

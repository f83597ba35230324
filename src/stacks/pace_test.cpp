#include "stacks/pace.h"

#include <gtest/gtest.h>

#include <utility>

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

// A word to which another thread stores a longer interval after it has been loaded.
struct Raced {
  std::uint64_t value, stored_meanwhile;

  std::uint64_t load(std::memory_order) { return std::exchange(value, stored_meanwhile); }
  void store(std::uint64_t ns, std::memory_order) { value = ns; }
  bool compare_exchange_weak(std::uint64_t& known, std::uint64_t ns, std::memory_order) {
    const bool is_known = value == known;
    known = std::exchange(value, is_known ? ns : value);
    return is_known;
  }
};

TEST(Pace, TheLongestIntervalStaysWhenThreadsLengthenItAtOnce) {
  Raced longer{10 * ms, 40 * ms}, shorter{10 * ms, 15 * ms};
  lengthen(longer, 20 * ms);
  EXPECT_EQ(longer.value, 40 * ms);
  lengthen(shorter, 20 * ms);
  EXPECT_EQ(shorter.value, 20 * ms);
  std::uint64_t word = 10 * ms;
  for (const std::uint64_t ns : {20 * ms, 10 * ms}) lengthen(std::atomic_ref(word), ns);
  EXPECT_EQ(word, 20 * ms);
}

}  // namespace
}  // namespace tare::stacks

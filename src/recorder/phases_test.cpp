#include "recorder/phases.h"

#include <gtest/gtest.h>

#include "recorder/clock.h"
#include "recorder/testing/made_location.h"

namespace tare::recorder {
namespace {

constexpr std::uint32_t outer = 5, inner = 6, third = 7;

struct PhasesTest : testing::Test {
  PhasesTest() { choose_clock(); }
  const format::PhaseEntry* entry(std::uint32_t type) const {
    for (std::uint32_t number = 0; number < shared.summary.phases; ++number)
      if (shared.phases[number].type == type) return &shared.phases[number];
    return nullptr;
  }

  MadeLocation made;
  Location& location = made.location;
  Phases& phases = location.phases;
  format::LocationHeader& shared = location.shared();
};

TEST_F(PhasesTest, TheInnermostIsTheCurrentOne) {
  EXPECT_TRUE(phases.is_outside());
  phases.enter(outer);
  phases.enter(inner);
  EXPECT_EQ(phases.current, entry(inner));
  EXPECT_TRUE(phases.is_in(outer));
  EXPECT_TRUE(phases.is_in(inner));
  EXPECT_FALSE(phases.is_in(third));
  phases.leave(inner);
  EXPECT_EQ(phases.current, entry(outer));
  EXPECT_FALSE(phases.is_in(inner));
  phases.leave(outer);
  EXPECT_TRUE(phases.is_outside());
  EXPECT_EQ(entry(outer)->entries, 1U);
}

TEST_F(PhasesTest, OneThatLiesFurtherOutEndsAlone) {
  phases.enter(outer);
  phases.enter(inner);
  phases.enter(third);
  phases.leave(inner);
  EXPECT_EQ(phases.current, entry(third));
  EXPECT_FALSE(phases.is_in(inner));
  phases.leave(inner);  // has ended already
  phases.leave(third);
  EXPECT_EQ(phases.current, entry(outer));
}

TEST_F(PhasesTest, FurtherOnesThanTheTableHoldsShareTheFirstEntry) {
  for (std::uint32_t type = 1; shared.summary.full == 0; ++type) {
    ASSERT_LT(type, 2 * format::phase_capacity);
    phases.enter(type);
    phases.leave(type);
  }
  EXPECT_EQ(shared.summary.phases, format::phase_capacity);
  EXPECT_EQ(shared.summary.full, format::full_phases);
  EXPECT_EQ(shared.phases[0].entries, 1U);
}

TEST_F(PhasesTest, OnesNestedTooDeeplyAreLeftOut) {
  for (std::uint32_t type = 1; type <= Phases::max_nested; ++type) phases.enter(type);
  EXPECT_EQ(shared.summary.full, 0U);
  phases.enter(100);
  EXPECT_EQ(shared.summary.full, format::full_phases);
  EXPECT_EQ(phases.current, entry(Phases::max_nested));
  phases.leave_all();
  EXPECT_TRUE(phases.is_outside());
  EXPECT_EQ(phases.depth, 0U);
}

TEST_F(PhasesTest, TheModeOfTheThreadFollowsThem) {
  EXPECT_EQ(location.mode, Mode::usual);
  location.enter_phase(outer);
  EXPECT_EQ(location.mode, Mode::in_phase);
  location.pause();
  EXPECT_EQ(location.mode, Mode::paused);
  location.leave_phase(outer);
  EXPECT_EQ(location.mode, Mode::paused) << "until the program resumes";
  location.resume();
  EXPECT_EQ(location.mode, Mode::usual);
}

}  // namespace
}  // namespace tare::recorder

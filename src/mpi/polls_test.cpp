#include "mpi/polls.h"

#include <gtest/gtest.h>

#include <memory>

#include "mpi/site.h"

// As in site.cpp: the stack pointer counts.
std::uintptr_t tare::mpi::stack_matters = ~std::uintptr_t{0};

namespace tare::mpi {
namespace {

constexpr std::uint16_t function = 7;
constexpr std::uint64_t quick = 100;                    // ticks between polls
constexpr std::uint64_t slow = std::uint64_t{1} << 40;  // the same, much longer

// Polls of one call site, at times that the test says.
class PollsTest : public testing::Test {
 protected:
  PollsTest() {
    polls_->clear();
    location_->shared = shared_.get();
    row_.ticks_min = UINT64_MAX;
    know_path();
    call_.function = function;
    call_.site = 3;
    call_.communicator = 1;
    call_.leave = slow;
  }
  Frame caller() const { return {0x1234, reinterpret_cast<std::uintptr_t>(words_), 7}; }
  void know_path() {
    PathMemo::Builder built;
    built.caller = caller();
    built.base_mask = 0;
    built.count = 0;
    built.overflow = false;
    for (std::uintptr_t& word : words_) built.add({reinterpret_cast<std::uintptr_t>(&word), word});
    paths_->add(built, call_.site);
  }
  std::uint64_t key() const { return Polls::key_of(caller().return_address, function); }
  Polls::Site& site() { return polls_->site(key()); }
  bool is_skipped() { return site().has_skips(key(), caller()); }
  // One that is timed, `gap` after the one before.
  void poll(std::uint64_t gap, bool in_vain = true, std::uint64_t ticks = 20) {
    call_.enter = call_.leave + gap;
    call_.leave = call_.enter + ticks;
    polls_->note(*location_, *paths_, caller(), call_, row_, in_vain);
  }
  // The first one does not follow another quickly.
  void begin_streak() {
    for (unsigned i = 0; i <= Polls::period; ++i) poll(quick);
  }
  // As many as there may be; returns how many.
  unsigned skip() {
    unsigned count = 0;
    for (; is_skipped(); ++count) site().skip();
    return count;
  }

  std::uintptr_t words_[3] = {1, 2, 3};
  std::unique_ptr<Polls> polls_ = std::make_unique<Polls>();
  std::unique_ptr<PathMemo> paths_ = std::make_unique<PathMemo>();
  std::unique_ptr<format::LocationHeader> shared_ = std::make_unique<format::LocationHeader>();
  std::unique_ptr<recorder::Location> location_ = std::make_unique<recorder::Location>();
  format::ProfileRow row_{};
  recorder::Call call_;
};

TEST_F(PollsTest, OneOfAPeriodIsTimed) {
  for (unsigned i = 0; i < Polls::period; ++i) {
    poll(quick);
    EXPECT_FALSE(is_skipped()) << i;
  }
  poll(quick);
  EXPECT_EQ(skip(), Polls::period - 1);
  EXPECT_EQ(row_.calls, Polls::period - 1);
  EXPECT_EQ(row_.estimated, Polls::period - 1);
  poll(quick);
  EXPECT_EQ(skip(), Polls::period - 1);
}

// What was not timed took no longer than there was time.
TEST_F(PollsTest, TheOthersShareTheTimeThatThereWas) {
  begin_streak();
  const unsigned count = skip();
  EXPECT_EQ(row_.ticks, 0U) << "until the next is timed";
  const std::uint64_t elapsed = count * 10;
  poll(elapsed, true, std::uint64_t{1} << 30);
  EXPECT_EQ(row_.ticks, elapsed);
  EXPECT_EQ(row_.ticks_min, 10U);
  EXPECT_EQ(row_.histogram[format::duration_bin(10)], count);
  EXPECT_DOUBLE_EQ(row_.ticks_squared, count * 100.0);
}

TEST_F(PollsTest, TheOthersTookAsLongAsTheNextThatIsTimedWithoutItsClock) {
  begin_streak();
  const unsigned count = skip();
  constexpr std::uint64_t ticks = std::uint64_t{1} << 30;
  poll(slow, true, ticks);
  EXPECT_LE(row_.ticks, count * ticks);
  EXPECT_GT(row_.ticks, count * (ticks / 2)) << "more for reading the clock than it can take";
}

TEST_F(PollsTest, OneThatFindsSomethingEndsTheStreak) {
  begin_streak();
  skip();
  poll(quick * Polls::period, false);
  EXPECT_FALSE(is_skipped());
  begin_streak();
  EXPECT_TRUE(is_skipped());
  for (int i = 0; i < 5; ++i) site().skip();
  call_.enter = call_.leave + 50;
  call_.leave = call_.enter + 20;
  polls_->end_streak(*location_, site(), call_);  // not timed
  EXPECT_FALSE(is_skipped());
  EXPECT_EQ(site().pending(), 0U);
}

// However it was found, and however long the program had to do with it.
TEST_F(PollsTest, AfterAFindAFewInVainAreEnough) {
  begin_streak();
  for (const bool timed : {false, true, false}) {
    skip();
    call_.enter = call_.leave + 50;
    call_.leave = call_.enter + 20;
    if (timed)
      poll(quick, false);
    else
      polls_->end_streak(*location_, site(), call_);
    EXPECT_FALSE(is_skipped());
    poll(slow);
    for (unsigned i = 1; i < Polls::few; ++i, poll(quick)) EXPECT_FALSE(is_skipped());
    EXPECT_TRUE(is_skipped());
  }
  poll(quick, false);
  poll(slow);
  poll(slow);
  poll(quick);
  EXPECT_FALSE(is_skipped()) << "they do not follow one another quickly";
}

TEST_F(PollsTest, FindsAmongPollsThatAreTimedBeginNoStreak) {
  for (unsigned i = 0; i < 10 * Polls::period; ++i) {
    poll(quick, i % (Polls::period / 2) != 0);
    EXPECT_FALSE(is_skipped());
  }
}

TEST_F(PollsTest, SlowOnesAreAllTimed) {
  for (unsigned i = 0; i < 3 * Polls::period; ++i) poll(slow);
  EXPECT_FALSE(is_skipped());
}

TEST_F(PollsTest, AStreakIsOfOneCommunicator) {
  for (unsigned i = 0; i < 3 * Polls::period; ++i) {
    call_.communicator = 1 + i % 2;
    poll(quick);
  }
  EXPECT_FALSE(is_skipped());
}

TEST_F(PollsTest, AStreakIsOfOnePath) {
  begin_streak();
  EXPECT_TRUE(is_skipped());
  words_[1] = 4;  // called from elsewhere
  EXPECT_FALSE(is_skipped());
  begin_streak();
  EXPECT_FALSE(is_skipped()) << "of a path that is not known";
  know_path();
  begin_streak();
  EXPECT_TRUE(is_skipped());
}

TEST_F(PollsTest, ForgettingTimesThemAgain) {
  begin_streak();
  polls_->forget();
  EXPECT_FALSE(is_skipped());
}

TEST_F(PollsTest, APhaseHasTheTimeSinceItBegan) {
  begin_streak();
  const unsigned count = skip();
  format::PhaseEntry phase{};
  location_->mode = recorder::Mode::in_phase;
  location_->phase = &phase;
  constexpr std::uint64_t in_phase = 4;
  const std::uint64_t elapsed = count * 10;
  shared_->summary.phase_since = call_.leave + elapsed - in_phase;
  poll(elapsed, true, std::uint64_t{1} << 30);
  EXPECT_EQ(row_.ticks, elapsed);
  EXPECT_EQ(phase.mpi_ticks, in_phase);
}

}  // namespace
}  // namespace tare::mpi

#include "mpi/calls/polls.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>

#include "recorder/clock.h"
#include "stack/site.h"

namespace tare::mpi {
namespace {

constexpr std::uint16_t function = 7;
constexpr std::uint64_t quick = 100;                    // ticks between polls
constexpr std::uint64_t slow = std::uint64_t{1} << 40;  // the same, much longer
constexpr std::uint64_t ending = slow;                  // of the call before the first poll

// Polls of one call site, at times that the test says.
class PollsTest : public testing::Test {
 protected:
  PollsTest() {
    polls_->clear(0);  // its times are exact
    location_->events.shared = shared_.get();
    row_.ticks_min = UINT64_MAX;
    know_path();
    call_.function = function;
    call_.site = 3;
    call_.communicator = 1;
    call_.leave = ending;
  }
  stack::Frame caller() const { return {0x1234, reinterpret_cast<std::uintptr_t>(words_), 7}; }
  void know_path() {
    stack::PathMemo::Builder built;
    built.caller = caller();
    built.base_mask = 0;
    built.count = 0;
    built.overflow = false;
    for (std::uintptr_t& word : words_) built.add({reinterpret_cast<std::uintptr_t>(&word), word});
    paths_->add(last_path_, built, call_.site);
  }
  std::uint64_t key() const { return Polls::key_of(caller().return_address, function); }
  Polls::Site& site() { return polls_->site(key()); }
  bool is_skipped() { return site().has_skips(key(), caller()); }
  // One that is timed, `gap` after the one before.
  void poll(std::uint64_t gap, bool is_idle = true, std::uint64_t ticks = 20) {
    const std::uint64_t last = call_.leave;
    const std::uint64_t now = last + gap;
    call_.enter = polls_->begin(*location_, last, now);
    call_.leave = now + ticks;
    polls_->end(*location_, call_, is_idle);
    polls_->note(*location_, *paths_, caller(), call_, row_, is_idle, last, now);
  }
  // One that was not timed, and found something.
  void find_untimed() {
    const std::uint64_t last = call_.leave;
    call_.enter = last + 50;
    call_.leave = call_.enter + 20;
    polls_->end_streak(*location_, site(), call_, last);
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
  std::unique_ptr<stack::PathMemo> paths_ = std::make_unique<stack::PathMemo>();
  stack::PathMemo::Last last_path_ = 0;
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
  find_untimed();
  EXPECT_FALSE(is_skipped());
  EXPECT_EQ(site().pending(), 0U);
}

// However it was found, and however long the program had to do with it.
TEST_F(PollsTest, AfterAFindAFewInVainAreEnough) {
  begin_streak();
  for (const bool timed : {false, true, false}) {
    skip();
    if (timed)
      poll(quick, false);
    else
      find_untimed();
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
  polls_->end_streaks();
  EXPECT_FALSE(is_skipped());
}

TEST_F(PollsTest, APhaseHasTheTimeSinceItBegan) {
  begin_streak();
  const unsigned count = skip();
  format::PhaseEntry phase{};
  location_->mode = recorder::Mode::in_phase;
  location_->phases.current = &phase;
  constexpr std::uint64_t in_phase = 4;
  const std::uint64_t elapsed = count * 10;
  shared_->summary.phase_since = call_.leave + elapsed - in_phase;
  poll(elapsed, true, std::uint64_t{1} << 30);
  EXPECT_EQ(row_.ticks, elapsed);
  EXPECT_EQ(phase.mpi_ticks, in_phase);
}

TEST_F(PollsTest, APollThatFollowsOneInVainBeginsWhereThatEnded) {
  poll(quick);
  EXPECT_EQ(call_.enter, ending + quick) << "the first";
  std::uint64_t last = call_.leave;
  poll(quick);
  EXPECT_EQ(call_.enter, last);
  poll(slow);
  EXPECT_EQ(call_.leave - call_.enter, 20U) << "the program did something else";
  poll(quick, false);
  EXPECT_EQ(call_.leave - call_.enter, quick + 20) << "it waited for what it found";
  poll(quick);
  EXPECT_EQ(call_.leave - call_.enter, 20U) << "it dealt with what it found";
  call_.leave += 30;  // of another call
  poll(quick);
  EXPECT_EQ(call_.leave - call_.enter, 20U);
  location_->events.head += 24;  // an event of the API
  poll(quick);
  EXPECT_EQ(call_.leave - call_.enter, 20U);
  shared_->summary.phase_since = call_.leave + 1;
  poll(quick);
  EXPECT_EQ(call_.leave - call_.enter, 20U);
  poll(quick);
  EXPECT_EQ(call_.leave - call_.enter, quick + 20);
  polls_->end_streaks();
  poll(quick);
  EXPECT_EQ(call_.leave - call_.enter, 20U);
}

TEST_F(PollsTest, AStreakIsOfOneSite) {
  const stack::Frame elsewhere{0x4321, reinterpret_cast<std::uintptr_t>(words_), 7};
  stack::PathMemo::Builder built;
  built.caller = elsewhere;
  built.base_mask = 0;
  built.count = 0;
  built.overflow = false;
  built.add({reinterpret_cast<std::uintptr_t>(&words_[0]), words_[0]});
  paths_->add(last_path_, built, call_.site);
  const std::uint64_t other_key = Polls::key_of(elsewhere.return_address, function);
  format::ProfileRow other_row{};
  const auto poll_elsewhere = [&] {
    const std::uint64_t last = call_.leave, now = last + quick;
    call_.enter = polls_->begin(*location_, last, now);
    call_.leave = now + 20;
    polls_->end(*location_, call_, true);
    polls_->note(*location_, *paths_, elsewhere, call_, other_row, true, last, now);
  };
  for (unsigned i = 0; i < 3 * Polls::period; ++i) {
    poll(quick);
    poll_elsewhere();
    EXPECT_EQ(call_.leave - call_.enter, quick + 20) << "it waits on all the same";
    EXPECT_FALSE(is_skipped() || polls_->site(other_key).has_skips(other_key, elsewhere));
  }
  // Only the first poll at another site settles the polls that were not timed.
  begin_streak();
  const unsigned count = skip();
  ASSERT_GT(count, 0U);
  const std::uint64_t before = row_.ticks;
  poll_elsewhere();
  EXPECT_EQ(row_.ticks - before, quick);
  EXPECT_FALSE(is_skipped());
  poll(slow);
  EXPECT_EQ(row_.ticks - before, quick);
}

// What a profile makes of a program's polls, against what it would be if all were timed, as in a trace.
TEST_F(PollsTest, WhatIsNotTimedIsWaitingAsMuchAsIfItWere) {
  struct Kind {
    const char* name;
    std::uint64_t gap, ticks;  // between polls, and of one
    unsigned polls;            // idle, one after another,
    std::uint64_t computing;   // and then so much computing,
    bool finds;                // after one that found something
  };
  for (const Kind& kind :
       {Kind{"waits long", 20, 60, 5000, 100'000, true}, Kind{"finds soon", 15, 50, 100, 20'000, true},
        Kind{"slow polls", 30, 600, 2000, 50'000, true}, Kind{"slow loop", 700, 60, 3000, 0, false},
        Kind{"computes between", 20, 60, 31, 20'000, false},
        Kind{"computes between every two", 5000, 60, 1000, 0, false}}) {
    polls_->clear(0);  // its times are exact
    row_ = {};
    row_.ticks_min = UINT64_MAX;
    std::mt19937_64 random{7};
    const auto about = [&](std::uint64_t ticks) { return ticks - ticks / 4 + random() % (ticks / 2 + 1); };
    std::uint64_t now = ending, last = ending, truth = 0, timed = 0, calls = 0;
    bool is_idle = false;  // the one before
    std::uint64_t ended = 0;
    const auto one = [&](bool finds) {
      const std::uint64_t enter = now, leave = now += about(kind.ticks);
      truth += leave - (is_idle && enter - ended < recorder::about_ticks(Polls::gap_ns) ? ended : enter);
      is_idle = !finds;
      ended = leave;
      ++calls;
      if (is_skipped() && !finds) return site().skip();
      if (is_skipped()) {
        call_.leave = leave;
        call_.enter = site().estimated_enter(leave);
        row_.ticks += leave - call_.enter;
        polls_->end_streak(*location_, site(), call_, last);
      } else {
        call_.enter = polls_->begin(*location_, last, enter);
        call_.leave = leave;
        ++timed;
        row_.ticks += leave - call_.enter;
        polls_->end(*location_, call_, !finds);
        polls_->note(*location_, *paths_, caller(), call_, row_, !finds, last, enter);
      }
      last = leave;
    };
    for (unsigned round = 0; round < 200; ++round) {
      for (unsigned i = 0; i < kind.polls; ++i) {
        if (i != 0) now += about(kind.gap);
        one(false);
      }
      if (kind.finds) one(true);
      now += kind.computing;
    }
    EXPECT_NEAR(static_cast<double>(row_.ticks), static_cast<double>(truth), 0.1 * static_cast<double>(truth))
        << kind.name << ": " << timed << " of " << calls << " timed";
  }
}

}  // namespace
}  // namespace tare::mpi

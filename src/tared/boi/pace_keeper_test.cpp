// Tests the keeper with a simulated tree that serves one round at a time, and whose speed changes.
#include "tared/boi/pace_keeper.h"

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <utility>
#include <vector>

namespace tare::tared {
namespace {

constexpr std::int64_t ms = 1'000'000;
constexpr std::int64_t hour = 3'600'000 * ms;
constexpr std::int64_t step_ns = ms;  // of the simulation
constexpr std::int64_t epoch_ns = 1'000'000 * ms;
constexpr std::size_t room = 16;  // rounds that buffers hold; more are lost
constexpr std::uint32_t ranks = 4;

class MadeUpTree {
 public:
  // Points are made by the clock.
  explicit MadeUpTree(std::int64_t min_ns) : keeper_(PointClock(step_ns, epoch_ns), min_ns), every_(100) {}
  // Points are made by the program, each after `work_ns` of work. If not `is_even`, some take ten times as long.
  MadeUpTree(std::int64_t min_ns, std::int64_t work_ns, bool is_even)
      : keeper_(PointClock(), min_ns), work_ns_(work_ns), is_even_(is_even) {}

  // Simulates until `done`, or for at most `max_ns`. A round takes `service_ns` at the slowest node.
  bool run(std::int64_t service_ns, std::int64_t max_ns, const std::function<bool()>& done) {
    for (const std::int64_t until_ns = now_ns_ + max_ns; now_ns_ < until_ns; now_ns_ += step_ns) {
      while (now_ns_ >= next_point_ns_) come_to_point();
      serve(service_ns);
      if (const auto pace = keeper_.decide(now_ns_)) {
        EXPECT_GT(pace->from_round, point_) << "a decision that ranks are told too late";
        EXPECT_EQ(from_next_, UINT64_MAX) << "two decisions at a time";
        from_next_ = pace->from_round;
        every_next_ = pace->every;
      }
      if (done()) return true;
    }
    return false;
  }
  bool keeps() const { return keeper_.state() == PaceKeeper::State::keeps && from_next_ == UINT64_MAX; }
  bool settles_at(std::int64_t interval_ns) const { return keeps() && keeper_.interval_ns() == interval_ns; }
  double boi_ms() const { return keeper_.boi_ns() / ms; }
  std::uint64_t every() const { return every_; }
  std::size_t queue() const { return queue_.size(); }
  void work(std::int64_t ns) { work_ns_ = ns; }
  // If fewer points than `every` are between two rounds, a rank has no room for some of its snapshots. Rounds still
  // arrive in time.
  void lose_below(std::uint64_t every) { lossy_below_ = every; }
  // From now on, one rank does not reach any point.
  void skip() { skips_ = true; }
  PaceKeeper& keeper() { return keeper_; }

 private:
  struct Waiting {
    std::uint64_t point;
    std::int64_t offloaded_ns;
    std::uint64_t dropped;
  };

  void come_to_point() {
    ++point_;
    const bool is_long = !is_even_ && point_ % 37 == 0;
    const std::int64_t at_ns = next_point_ns_;
    next_point_ns_ += is_long ? 10 * work_ns_ : work_ns_;
    if (point_ >= from_next_) {
      from_ = from_next_;
      every_ = every_next_;
      from_next_ = UINT64_MAX;
    }
    if (point_ < from_ || (point_ - from_) % every_ != 0) return;
    if (queue_.size() == room) {
      dropped_ += ranks;
      return;
    }
    // Another one drops it, and the round comes without it.
    const bool is_without_one = lossy_below_ > every_;
    queue_.push_back({point_, at_ns, std::exchange(dropped_, is_without_one ? 1 : 0)});
  }
  void serve(std::int64_t service_ns) {
    while (!queue_.empty() && std::max(free_ns_, queue_.front().offloaded_ns) + service_ns <= now_ns_) {
      free_ns_ = std::max(free_ns_, queue_.front().offloaded_ns) + service_ns;
      Round round;
      round.round = queue_.front().point;
      round.first_offload_ns = round.last_offload_ns = queue_.front().offloaded_ns;
      round.arrived_ns = free_ns_;
      round.ranks = RankSet::of_range(0, ranks);
      round.dropped = queue_.front().dropped;
      if (skips_) round.lost = RankSet::of_range(ranks, 1);
      keeper_.add(round);
      queue_.pop_front();
    }
  }

  PaceKeeper keeper_;
  std::int64_t work_ns_ = step_ns;
  bool is_even_ = true;
  std::deque<Waiting> queue_;
  std::int64_t now_ns_ = epoch_ns;
  std::int64_t next_point_ns_ = epoch_ns + step_ns;
  std::uint64_t point_ = 0;
  std::int64_t free_ns_ = 0;
  std::uint64_t from_ = 0;
  std::uint64_t every_ = 1;
  std::uint64_t from_next_ = UINT64_MAX;
  std::uint64_t every_next_ = 0;
  std::uint64_t dropped_ = 0;
  std::uint64_t lossy_below_ = 0;
  bool skips_ = false;
};

TEST(PaceKeeper, FindsTheBoiAndKeepsTwiceOfIt) {
  for (const std::int64_t service_ns : {7 * ms, 20 * ms, 60 * ms}) {
    MadeUpTree tree(ms);
    ASSERT_TRUE(tree.run(service_ns, hour, [&] { return tree.keeper().state() == PaceKeeper::State::keeps; }));
    const double true_ms = static_cast<double>(service_ns) / ms;
    EXPECT_GE(tree.boi_ms(), true_ms * 0.9);
    EXPECT_LE(tree.boi_ms(), true_ms * 1.1 + 1) << "to the next point, and the error of the search";
    const auto found = tree.keeper().take_found();
    ASSERT_TRUE(found);
    EXPECT_FALSE(found->is_bound);
    EXPECT_NEAR(found->rest.mean / ms, true_ms, 0.1);
    EXPECT_FALSE(tree.keeper().take_found());
  }
}

TEST(PaceKeeper, KeepsTheLeastThatIsWanted) {
  MadeUpTree tree(50 * ms);
  EXPECT_TRUE(tree.run(ms / 10, hour, [&] { return tree.settles_at(50 * ms); }));
  EXPECT_TRUE(tree.keeper().take_found()->is_bound);
}

TEST(PaceKeeper, StepsUpWhereTheTreeFallsBehindAndComesBack) {
  MadeUpTree tree(50 * ms);
  ASSERT_TRUE(tree.run(5 * ms, hour, [&] { return tree.settles_at(50 * ms); }));
  EXPECT_TRUE(tree.run(5 * ms, hour / 100, [&] { return tree.keeper().is_settled(); }));
  EXPECT_TRUE(tree.run(300 * ms, hour / 100, [&] { return !tree.keeper().is_settled(); }));
  EXPECT_TRUE(tree.run(300 * ms, hour, [&] { return tree.settles_at(400 * ms); }));
  // This interval is sustained, so the keeper does not stay at a longer one.
  EXPECT_TRUE(tree.run(5 * ms, hour, [&] { return tree.settles_at(50 * ms); }));
}

TEST(PaceKeeper, TheBoiIsSearchedAnewWhereLoadChangesIt) {
  MadeUpTree tree(10 * ms);
  ASSERT_TRUE(tree.run(8 * ms, hour, [&] { return tree.keeps(); }));
  for (const std::int64_t service_ns : {90 * ms, 20 * ms, 200 * ms, 8 * ms}) {
    const double true_ms = static_cast<double>(service_ns) / ms;
    EXPECT_TRUE(
        tree.run(service_ns, hour,
                 [&] { return tree.keeps() && tree.boi_ms() >= 0.9 * true_ms && tree.boi_ms() <= 1.1 * true_ms + 1; }))
        << tree.boi_ms() << " for " << true_ms;
    EXPECT_TRUE(tree.run(service_ns, hour, [&] { return tree.queue() == 0; })) << "what waits is taken";
  }
}

TEST(PaceKeeper, StepsUpWhereRanksDropWhatComesInTime) {
  MadeUpTree tree(50 * ms);
  ASSERT_TRUE(tree.run(5 * ms, hour, [&] { return tree.settles_at(50 * ms); }));
  tree.lose_below(150);
  ASSERT_TRUE(tree.run(5 * ms, hour, [&] { return tree.settles_at(200 * ms); }));
  // Now and then, the keeper tries a shorter interval, and does not keep it.
  std::int64_t lossy = 0;
  std::int64_t all = 0;
  tree.run(5 * ms, hour / 10, [&] {
    lossy += tree.every() < 150 ? 1 : 0;
    ++all;
    return false;
  });
  EXPECT_GT(lossy, 0);
  EXPECT_LT(lossy, all / 10);
  tree.lose_below(0);
  EXPECT_TRUE(tree.run(5 * ms, hour, [&] { return tree.settles_at(50 * ms); }));
}

// A longer interval would not help.
TEST(PaceKeeper, ARankThatComesToNoPointSlowsNobodyDown) {
  MadeUpTree tree(50 * ms);
  ASSERT_TRUE(tree.run(5 * ms, hour, [&] { return tree.settles_at(50 * ms); }));
  tree.skip();
  EXPECT_FALSE(tree.run(5 * ms, hour / 10, [&] { return tree.keeper().interval_ns() > 50 * ms; }));
}

// If nothing changes, searches become rarer.
TEST(PaceKeeper, UnderASteadyLoadItStaysWhereItIs) {
  MadeUpTree tree(10 * ms);
  ASSERT_TRUE(tree.run(20 * ms, hour, [&] { return tree.keeps(); }));
  std::int64_t kept = 0;
  std::int64_t all = 0;
  tree.run(20 * ms, hour / 10, [&] {
    kept += tree.keeps() ? 1 : 0;
    ++all;
    return false;
  });
  EXPECT_GT(kept, all * 95 / 100);
}

TEST(PaceKeeper, ProfilesThatHaveGrownAreSearchedFor) {
  MadeUpTree tree(10 * ms);
  tree.keeper().events(10);
  ASSERT_TRUE(tree.run(20 * ms, hour, [&] { return tree.keeps(); }));
  ASSERT_TRUE(tree.keeper().take_found());
  tree.keeper().events(12);
  EXPECT_FALSE(tree.run(20 * ms, hour / 100, [&] { return tree.keeper().take_found().has_value(); }));
  tree.keeper().events(14);
  EXPECT_TRUE(tree.run(20 * ms, hour / 100, [&] { return tree.keeper().take_found().has_value(); }));
}

TEST(PaceKeeper, PointsOfAProgramAreSkipped) {
  for (const bool is_even : {true, false}) {
    MadeUpTree tree(ms, 5 * ms, is_even);
    ASSERT_TRUE(tree.run(33 * ms, hour, [&] { return tree.keeps(); }));
    EXPECT_NEAR(tree.boi_ms(), 35, 5.5) << "33, to the next point";
    // The interval may be longer for a while, until no round waits.
    EXPECT_TRUE(tree.run(33 * ms, hour, [&] { return tree.keeps() && (tree.every() == 14 || tree.every() == 16); }))
        << tree.every();
  }
}

TEST(PaceKeeper, AProgramThatBecomesFasterSkipsMore) {
  MadeUpTree tree(50 * ms, 20 * ms, true);
  ASSERT_TRUE(tree.run(ms, hour, [&] { return tree.keeps() && tree.every() == 3; }));
  tree.work(2 * ms);
  EXPECT_TRUE(tree.run(ms, hour, [&] { return tree.keeps() && tree.every() == 25; })) << tree.every();
  tree.work(500 * ms);
  EXPECT_TRUE(tree.run(ms, hour, [&] { return tree.keeps() && tree.every() == 1; })) << tree.every();
}

TEST(PaceKeeper, WaitsForTheProgramToBegin) {
  PaceKeeper keeper(PointClock(step_ns, epoch_ns), ms);
  EXPECT_FALSE(keeper.decide(epoch_ns + hour));
  PaceKeeper of_program(PointClock(), ms);
  Round round;
  round.round = 1;
  of_program.add(round);
  EXPECT_FALSE(of_program.decide(epoch_ns + hour)) << "how far points are apart is not known";
}

TEST(PaceKeeper, ATreeThatStandsStillIsSlowedDownAndNoFurther) {
  MadeUpTree tree(50 * ms);
  ASSERT_TRUE(tree.run(5 * ms, hour, [&] { return tree.settles_at(50 * ms); }));
  EXPECT_TRUE(tree.run(hour, hour, [&] { return tree.settles_at(10'000 * ms); }));
}

}  // namespace
}  // namespace tare::tared

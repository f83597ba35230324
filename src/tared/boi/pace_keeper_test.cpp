// The keeper against a made-up tree that serves one round at a time, and whose pace changes.
#include "tared/boi/pace_keeper.h"

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <vector>

namespace tare::tared {
namespace {

constexpr std::int64_t ms = 1'000'000;
constexpr std::int64_t point_ns = ms;
constexpr std::int64_t epoch_ns = 1'000'000 * ms;

class MadeUpTree {
 public:
  explicit MadeUpTree(std::int64_t least_ns) : keeper_(point_ns, epoch_ns, least_ns) {}

  // Until `done`, or for at most so long; a round takes `service_ns` at the slowest node.
  bool run(std::int64_t service_ns, std::int64_t most_ns, const std::function<bool()>& done) {
    for (const std::int64_t until_ns = now_ns_ + most_ns; now_ns_ < until_ns; now_ns_ += point_ns) {
      const auto point = static_cast<std::uint64_t>((now_ns_ - epoch_ns) / point_ns);
      if (point >= from_next_) {
        from_ = from_next_;
        every_ = every_next_;
        from_next_ = UINT64_MAX;
      }
      // Buffers hold so many rounds; more are lost.
      if (point >= from_ && (point - from_) % every_ == 0 && queue_.size() < 16) queue_.push_back({point, now_ns_});
      longest_ = std::max(longest_, queue_.size());
      while (!queue_.empty() && std::max(free_ns_, queue_.front().offloaded_ns) + service_ns <= now_ns_) {
        free_ns_ = std::max(free_ns_, queue_.front().offloaded_ns) + service_ns;
        Round round;
        round.round = queue_.front().point;
        round.first_offload_ns = round.last_offload_ns = queue_.front().offloaded_ns;
        round.arrived_ns = free_ns_;
        keeper_.add(round);
        queue_.pop_front();
      }
      if (const auto pace = keeper_.decide(now_ns_)) {
        EXPECT_GT(pace->from_round, point) << "a decision that ranks are told too late";
        EXPECT_EQ(from_next_, UINT64_MAX) << "two decisions at a time";
        from_next_ = pace->from_round;
        every_next_ = static_cast<std::uint64_t>(pace->interval_ns / point_ns);
      }
      if (done()) return true;
    }
    return false;
  }
  bool settles_at(std::int64_t interval_ns) const {
    return keeper_.state() == PaceKeeper::State::keeps && keeper_.interval_ns() == interval_ns &&
           from_next_ == UINT64_MAX;
  }
  PaceKeeper& keeper() { return keeper_; }

 private:
  struct Waiting {
    std::uint64_t point;
    std::int64_t offloaded_ns;
  };
  PaceKeeper keeper_;
  std::deque<Waiting> queue_;
  std::int64_t now_ns_ = epoch_ns;
  std::int64_t free_ns_ = 0;
  std::uint64_t from_ = 0;
  std::uint64_t every_ = 100;
  std::uint64_t from_next_ = UINT64_MAX;
  std::uint64_t every_next_ = 0;
  std::size_t longest_ = 0;
};

constexpr std::int64_t hour = 3'600'000 * ms;

TEST(PaceKeeper, FindsTheBoiAndKeepsTwiceOfIt) {
  for (const std::int64_t service_ns : {7 * ms, 20 * ms, 60 * ms}) {
    MadeUpTree tree(ms);
    ASSERT_TRUE(tree.run(service_ns, hour, [&] { return tree.keeper().state() == PaceKeeper::State::keeps; }));
    const double boi_ms = tree.keeper().boi_ns() / ms;
    const double true_ms = static_cast<double>(service_ns) / ms;
    EXPECT_GE(boi_ms, true_ms * 0.9);
    EXPECT_LE(boi_ms, true_ms * 1.2 + 1) << "to the next point, and the error of the search";
  }
}

TEST(PaceKeeper, KeepsTheLeastThatIsWanted) {
  MadeUpTree tree(50 * ms);
  EXPECT_TRUE(tree.run(ms / 10, hour, [&] { return tree.settles_at(50 * ms); }));
}

TEST(PaceKeeper, StepsUpWhereTheTreeFallsBehindAndComesBack) {
  MadeUpTree tree(50 * ms);
  ASSERT_TRUE(tree.run(5 * ms, hour, [&] { return tree.settles_at(50 * ms); }));
  EXPECT_TRUE(tree.run(300 * ms, hour, [&] { return tree.settles_at(400 * ms); }));
  // There it is sustained, so nothing below is for long.
  EXPECT_TRUE(tree.run(5 * ms, hour, [&] { return tree.settles_at(50 * ms); }));
}

TEST(PaceKeeper, WaitsForTheProgramToBegin) {
  PaceKeeper keeper(point_ns, epoch_ns, ms);
  EXPECT_FALSE(keeper.decide(epoch_ns + hour));
}

TEST(PaceKeeper, ATreeThatStandsStillIsSlowedDownAndNoFurther) {
  MadeUpTree tree(50 * ms);
  ASSERT_TRUE(tree.run(5 * ms, hour, [&] { return tree.settles_at(50 * ms); }));
  EXPECT_TRUE(tree.run(hour, hour, [&] { return tree.settles_at(10'000 * ms); }));
}

}  // namespace
}  // namespace tare::tared

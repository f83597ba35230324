#include "tared/monitor/control_desk.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>

#include "monitor/cadence.h"

namespace tare::tared {
namespace {

constexpr std::int64_t epoch_ns = 1'000'000'000'000;
constexpr std::int64_t point_ns = 10'000'000;

class Requests : public testing::Test {
 protected:
  Requests() {
    EXPECT_NE(mkdtemp(directory_.data()), nullptr);
    requests_.emplace(directory_, PointClock(point_ns, epoch_ns));
  }
  ~Requests() override { EXPECT_EQ(std::system(("rm -rf '" + directory_ + "'").c_str()), 0); }

  void request() { std::ofstream(directory_ + RoundRequests::file_name, std::ios::app) << '\n'; }
  void arrives(std::uint64_t number) {
    Round round{};
    round.round = number;
    requests_->add(round);
  }

  std::string directory_ = testing::TempDir() + "round-requests-XXXXXX";
  std::optional<RoundRequests> requests_;
};

TEST_F(Requests, WithoutARequestNothingIsDecided) { EXPECT_FALSE(requests_->decide(epoch_ns)); }

TEST_F(Requests, ARequestIsAnsweredByOneRoundSoonAfter) {
  request();
  const auto pace = requests_->decide(epoch_ns + 5 * point_ns);
  ASSERT_TRUE(pace);
  EXPECT_EQ(pace->every, monitor::Cadence::once);
  EXPECT_EQ(pace->from_round, 8U) << "20 ms of notice, and up to the next point";
  EXPECT_FALSE(requests_->decide(epoch_ns + 9 * point_ns));
}

TEST_F(Requests, ThoseThatComeMeanwhileAreAnsweredTogetherByTheNextRound) {
  request();
  const auto first = requests_->decide(epoch_ns);
  ASSERT_TRUE(first);
  request();
  request();
  EXPECT_FALSE(requests_->decide(epoch_ns + 10 * point_ns)) << "the first is under way";
  arrives(first->from_round - 1);
  EXPECT_FALSE(requests_->decide(epoch_ns + 10 * point_ns));
  arrives(first->from_round);
  const auto next = requests_->decide(epoch_ns + 10 * point_ns);
  ASSERT_TRUE(next);
  EXPECT_GT(next->from_round, first->from_round);
  arrives(next->from_round);
  EXPECT_FALSE(requests_->decide(epoch_ns + 20 * point_ns));
}

TEST_F(Requests, ARoundThatDoesNotComeIsTriedAgain) {
  request();
  const auto first = requests_->decide(epoch_ns);
  ASSERT_TRUE(first);
  EXPECT_FALSE(requests_->decide(epoch_ns + RoundRequests::patience_ns));
  const auto again = requests_->decide(epoch_ns + RoundRequests::patience_ns + 4 * point_ns);
  ASSERT_TRUE(again);
  EXPECT_GT(again->from_round, first->from_round);
  arrives(again->from_round);
  EXPECT_FALSE(requests_->decide(epoch_ns + 10 * RoundRequests::patience_ns));
}

}  // namespace
}  // namespace tare::tared

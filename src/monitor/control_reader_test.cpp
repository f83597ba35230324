#include "monitor/control_reader.h"

#include <gtest/gtest.h>

#include <memory>

namespace tare::monitor {
namespace {

using format::ControlMessage;
using format::ControlMessages;

class Control : public ::testing::Test {
 protected:
  void send(std::uint64_t from_point, std::int32_t rank = format::all_ranks) {
    const std::uint64_t number = ++messages_.last;
    ControlMessage& message = messages_.of[number % ControlMessages::most];
    message = {};
    message.number = number;
    message.from_point = from_point;
    message.rank = rank;
    message.value = number;
    published_->publish(messages_);
    last_.store(number);
  }
  // The values that the rank gets at a point.
  std::vector<std::uint64_t> take(std::uint64_t point, std::int32_t rank = 0) {
    std::vector<std::uint64_t> values;
    for (ControlMessage message; reader_.take(last_, *published_, rank, point, message);)
      values.push_back(message.value);
    return values;
  }
  using Values = std::vector<std::uint64_t>;
  ControlMessages messages_;
  std::atomic<std::uint64_t> last_{0};
  std::unique_ptr<ControlReader::Published> published_ = std::make_unique<ControlReader::Published>();
  ControlReader reader_;
};

TEST_F(Control, ComesOnceInOrderAndAtItsPoint) {
  EXPECT_EQ(take(1), Values{});
  send(5);
  send(5);
  send(9);
  EXPECT_EQ(take(4), Values{});
  EXPECT_EQ(take(5), (Values{1, 2}));
  EXPECT_EQ(take(8), Values{});
  EXPECT_EQ(take(20), Values{3});
  EXPECT_EQ(take(21), Values{});
}

TEST_F(Control, ForAnotherRankIsSkipped) {
  send(1, 3);
  send(1);
  EXPECT_EQ(take(1, 2), Values{2});
  EXPECT_EQ(reader_.lost(), 0U);
  send(1, 2);
  EXPECT_EQ(take(1, 2), Values{3});
}

TEST_F(Control, ThatWasReplacedIsCounted) {
  for (int i = 0; i < 20; ++i) send(1);
  const auto got = take(1);
  EXPECT_EQ(got.size(), ControlMessages::most);
  EXPECT_EQ(got.front(), 5U);
  EXPECT_EQ(reader_.lost(), 4U);
}

TEST_F(Control, ThatTheNodeHasNotGotIsCounted) {
  send(1);
  ++messages_.last;
  send(1);
  EXPECT_EQ(take(1), (Values{1, 3}));
  EXPECT_EQ(reader_.lost(), 1U);
}

TEST_F(Control, OfAnEarlierProgramIsNoneOfThisOne) {
  send(1);
  reader_.begin(last_);
  send(2);
  EXPECT_EQ(take(9), Values{2});
}

}  // namespace
}  // namespace tare::monitor

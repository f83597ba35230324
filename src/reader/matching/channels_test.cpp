#include "reader/matching/channels.h"

#include <gtest/gtest.h>

#include <vector>

namespace tare::reader {
namespace {

constexpr Channel one{1, 0, 1, 7}, other{1, 0, 1, 8};

class ChannelsTest : public ::testing::Test {
 protected:
  std::pair<int, bool> sent(const Channel& on, int number) {
    return channels.match(on, Direction::sent, [number] { return number; });
  }
  std::pair<int, bool> received(const Channel& on, int number) {
    return channels.match(on, Direction::received, [number] { return number; });
  }
  using Met = std::pair<int, bool>;

  Channels<int> channels;
};

TEST_F(ChannelsTest, WhoComesFirstIsMetFirst) {
  EXPECT_EQ(sent(one, 10), Met(10, false));
  EXPECT_EQ(sent(one, 11), Met(11, false));
  EXPECT_EQ(received(one, 20), Met(10, true));
  EXPECT_EQ(received(one, 21), Met(11, true));
  EXPECT_EQ(received(one, 22), Met(22, false));
  EXPECT_EQ(sent(one, 12), Met(22, true));
}

TEST_F(ChannelsTest, ChannelsDoNotMeet) {
  sent(one, 10);
  EXPECT_EQ(received(other, 20), Met(20, false));
  EXPECT_EQ(received(one, 21), Met(10, true));
}

TEST_F(ChannelsTest, WhatIsWithdrawnIsNotMet) {
  for (int i = 0; i < 4; ++i) received(one, i);
  EXPECT_TRUE(channels.withdraw(one, Direction::received, 1));
  EXPECT_FALSE(channels.withdraw(one, Direction::received, 1));
  EXPECT_FALSE(channels.withdraw(one, Direction::sent, 2));
  EXPECT_TRUE(channels.withdraw(one, Direction::received, 3));
  EXPECT_EQ(sent(one, 10).first, 0);
  EXPECT_EQ(sent(one, 11).first, 2);
  EXPECT_EQ(sent(one, 12), Met(12, false));
}

TEST_F(ChannelsTest, WhatIsLeftOutlivesManyChannels) {
  sent(one, 10);
  for (std::int32_t tag = 100; tag < 300'000; ++tag) {
    sent({1, 0, 1, tag}, tag);
    ASSERT_EQ(received({1, 0, 1, tag}, 0).first, tag);
  }
  std::vector<int> left;
  channels.each([&left](const Channel&, Direction, int of) { left.push_back(of); });
  EXPECT_EQ(left, std::vector<int>{10});
  EXPECT_EQ(received(one, 20), Met(10, true));
}

}  // namespace
}  // namespace tare::reader

// Messages that were told of and wait for their receive, and receives that wait to be told of.
#include <gtest/gtest.h>

#include <deque>
#include <memory>

#include "mpi/sampling/received_ring.h"
#include "mpi/sampling/records.h"
#include "mpi/sampling/testing/shared_memory.h"

namespace tare::mpi::sampling {
namespace {

using testing::record;

TEST(Records, AreFoundByTheirMessages) {
  auto records = std::make_unique<Records>();
  MessageRecord out;
  EXPECT_FALSE(records->take(1, 1, out));
  for (std::uint64_t i = 1; i <= 5000; ++i) ASSERT_TRUE(records->keep(record(i % 7, i)));
  for (std::uint64_t i = 5000; i >= 1; --i) {
    ASSERT_TRUE(records->take(i % 7, i, out));
    EXPECT_EQ(out.number, i);
  }
  EXPECT_TRUE(records->empty());
}

TEST(Records, AreForgottenIfRetracted) {
  auto records = std::make_unique<Records>();
  for (std::uint64_t i = 1; i <= 4; ++i) records->keep(record(1, i));
  EXPECT_EQ(records->remove(1, 2, 3), 2U);
  EXPECT_EQ(records->remove_all(), 2U);
}

// Another process writes which numbers are retracted, so they may have any value.
TEST(Records, AreForgottenUpToTheLastNumber) {
  auto records = std::make_unique<Records>();
  records->keep(record(1, UINT64_MAX));
  EXPECT_EQ(records->remove(1, UINT64_MAX - 5, UINT64_MAX), 1U);
  EXPECT_EQ(records->remove(1, 2, 1), 0U);
}

Received message(std::uint64_t number) { return {{200, 200, 300}, number, 8, 1, false}; }

TEST(ReceivedRing, FindsTheMessagesOfEachChannelInAnyOrder) {
  ReceivedRing ring;
  ReceiveChannel channels[7] = {};
  constexpr std::uint64_t messages = ReceivedRing::capacity;
  Received found{};
  EXPECT_FALSE(ring.take(1, channels[0], 1, found));
  for (std::uint64_t i = 1; i <= messages; ++i)
    EXPECT_FALSE(ring.keep(1 + i % 7, channels[i % 7], message(i), i % 2 == 0));
  EXPECT_EQ(ring.expecting(), messages / 2);
  for (std::uint64_t i = 1; i <= messages; ++i) {
    const std::uint64_t number = 1 + i * 1001 % messages;
    EXPECT_FALSE(ring.take(1 + (number + 1) % 7, channels[(number + 1) % 7], number, found)) << "of another channel";
    ASSERT_TRUE(ring.take(1 + number % 7, channels[number % 7], number, found)) << number;
    EXPECT_EQ(found.number, number);
    EXPECT_FALSE(ring.take(1 + number % 7, channels[number % 7], number, found)) << "once";
  }
  EXPECT_EQ(ring.expecting(), 0U);
}

TEST(ReceivedRing, ForgetsTheOldest) {
  ReceivedRing ring;
  ReceiveChannel channel{};
  ReceiveChannel silent{};
  std::uint64_t forgotten = 0;
  ring.keep(2, silent, message(1), false);
  for (std::uint64_t i = 1; i <= 10'000; ++i) forgotten += ring.keep(1, channel, message(i), true) ? 1 : 0;
  EXPECT_EQ(forgotten, 10'000 - ReceivedRing::capacity);
  EXPECT_EQ(ring.expecting(), ReceivedRing::capacity);
  Received found{};
  EXPECT_FALSE(ring.take(2, silent, 1, found));
  EXPECT_FALSE(ring.take(1, channel, 10'000 - ReceivedRing::capacity, found));
  EXPECT_TRUE(ring.take(1, channel, 10'001 - ReceivedRing::capacity, found));
  EXPECT_TRUE(ring.take(1, channel, 10'000, found));
}

}  // namespace
}  // namespace tare::mpi::sampling

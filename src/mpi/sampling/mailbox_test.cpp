// What a sender gives to a receiver of its node.
#include <gtest/gtest.h>

#include <thread>

#include "mpi/sampling/mailbox.h"
#include "mpi/sampling/testing/shared_memory.h"

namespace tare::mpi::sampling {
namespace {

using testing::Memory;
using testing::put;

TEST(Mailbox, GivesBackWhatWasPutInOrder) {
  constexpr std::uint32_t slots = 64;
  const Memory memory(Mailbox::bytes(slots));
  auto* mailbox = static_cast<Mailbox*>(memory.at());
  EXPECT_EQ(mailbox->first(slots - 1), nullptr);
  for (int round = 0; round < 3; ++round) {
    for (std::uint64_t i = 0; i < slots; ++i) ASSERT_TRUE(put(*mailbox, slots - 1, 1, i));
    EXPECT_FALSE(put(*mailbox, slots - 1, 1, 0)) << "full";
    for (std::uint64_t i = 0; i < slots; ++i) {
      ASSERT_NE(mailbox->first(slots - 1), nullptr);
      EXPECT_EQ(mailbox->first(slots - 1)->number, i);
      mailbox->pop();
    }
    EXPECT_EQ(mailbox->first(slots - 1), nullptr);
  }
}

TEST(Mailbox, IsWrittenWhileItIsRead) {
  constexpr std::uint32_t slots = 64;
  const Memory memory(Mailbox::bytes(slots));
  auto* mailbox = static_cast<Mailbox*>(memory.at());
  constexpr std::uint64_t records = 100'000;
  std::thread writer([&] {
    for (std::uint64_t i = 1; i <= records; ++i)
      while (!put(*mailbox, slots - 1, i, i)) std::this_thread::yield();
  });
  for (std::uint64_t i = 1; i <= records;) {
    const MessageRecord* out = mailbox->first(slots - 1);
    if (out == nullptr) {
      std::this_thread::yield();
      continue;
    }
    EXPECT_EQ(out->number, i);
    EXPECT_EQ(out->channel, i);
    mailbox->pop();
    ++i;
  }
  writer.join();
}

}  // namespace
}  // namespace tare::mpi::sampling

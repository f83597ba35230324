// The memory that the ranks of a node share, also if somebody else writes to it.
#include <gtest/gtest.h>

#include <sys/mman.h>
#include <random>
#include <set>
#include <vector>

#include "mpi/sampling/node.h"
#include "mpi/sampling/testing/two_ranks.h"

namespace tare::mpi::sampling {
namespace {

using testing::Memory;
using testing::put;
using testing::record;
using testing::TwoRanks;

TEST(Node, GivesEachPairOfRanksAMailbox) {
  constexpr std::uint32_t size = 100;
  const Memory memory(Node::bytes(size));
  std::vector<Node> ranks(size);
  EXPECT_FALSE(ranks[3].join(memory.at(), size, 3, 1003)) << "in any order";
  EXPECT_EQ(ranks[3].rank(99), -1);
  for (std::uint32_t i = 0; i < size; ++i) {
    if (i == 3) continue;
    EXPECT_EQ(ranks[i].join(memory.at(), size, i, static_cast<std::int32_t>(1000 + i)), i == size - 1);
  }
  EXPECT_EQ(ranks[3].rank(99), 1099);
  EXPECT_EQ(ranks[3].from(5), nullptr);
  std::set<Mailbox*> given;
  std::uint32_t without = 0;
  for (std::uint32_t from = 0; from < size; ++from) {
    for (std::uint32_t to = 0; to < size; ++to) {
      Mailbox* mailbox = ranks[from].to(to);
      without += mailbox == nullptr;
      if (mailbox == nullptr) continue;
      EXPECT_TRUE(given.insert(mailbox).second);
      EXPECT_EQ(ranks[to].from(from), mailbox);
      EXPECT_EQ(ranks[from].to(to), mailbox);
      EXPECT_TRUE(put(*mailbox, ranks[from].mask(), from, to));
    }
  }
  EXPECT_EQ(without, size * (size - 64));
  ranks[1].retract_all(7);
  EXPECT_EQ(ranks[7].retracted(), 1U);
  EXPECT_EQ(ranks[1].retracted(), 0U);
}

TEST(Node, HasOneRankLookAtTheFile) {
  const Memory memory(Node::bytes(2));
  Node ranks[2];
  for (std::uint32_t i = 0; i < 2; ++i) ranks[i].join(memory.at(), 2, i, static_cast<std::int32_t>(i));
  constexpr std::uint64_t second = 1'000'000'000;
  EXPECT_TRUE(ranks[0].is_to_look(5 * second, second));
  EXPECT_FALSE(ranks[0].is_to_look(5 * second + 1, second));
  EXPECT_FALSE(ranks[1].is_to_look(6 * second - 1, second));
  EXPECT_TRUE(ranks[1].is_to_look(6 * second, second));
  EXPECT_EQ(ranks[0].version(), 0U);
  ranks[1].note_version(77);
  EXPECT_EQ(ranks[0].version(), 77U);
}

// behind), nor goes on for ever, whatever they find.
class WrittenOver : public TwoRanks {
 protected:
  static constexpr std::size_t page = 4096;
  void SetUp() override {
    const std::size_t bytes = (Node::bytes(2) + page - 1) / page * page;
    guarded_bytes_ = bytes + 2 * page;
    guarded_ = static_cast<char*>(
        mmap(nullptr, guarded_bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    ASSERT_NE(guarded_, MAP_FAILED);
    shared_ = guarded_ + page;
    shared_words_ = Node::bytes(2) / sizeof(std::uint64_t);
    ASSERT_EQ(mprotect(shared_, bytes, PROT_READ | PROT_WRITE), 0);
    for (std::uint32_t i = 0; i < 2; ++i) others[i].join(shared_, 2, i, static_cast<std::int32_t>(i));
  }
  void TearDown() override { munmap(guarded_, guarded_bytes_); }
  // One word in eight, of the head and of the mailboxes alike, gets an end of its range, a neighbour of what it was, or
  // anything.
  void write_over(std::mt19937_64& random) {
    auto* words = reinterpret_cast<std::uint32_t*>(shared_);
    constexpr std::uint32_t ends[] = {0, 1, 2, 255, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff};
    for (std::size_t i = 0; i < 2 * shared_words_; ++i) {
      const std::uint64_t choice = random();
      if (choice % 8 != 0) continue;
      words[i] = choice % 3 == 0   ? ends[choice >> 32 & 7]
                 : choice % 3 == 1 ? words[i] + static_cast<std::uint32_t>(choice >> 32 & 3) - 1
                                   : static_cast<std::uint32_t>(choice >> 32);
    }
  }

  Node others[2];
  char* guarded_ = nullptr;
  char* shared_ = nullptr;
  std::size_t guarded_bytes_ = 0;
  std::size_t shared_words_ = 0;
};

TEST_F(WrittenOver, LeadsNobodyBeyondTheMemory) {
  begin("random:1,stat");
  for (int i = 0; i < 2; ++i) side[i].set_node(&others[i]);
  std::mt19937_64 random(13);
  for (int round = 0; round < 50; ++round) {
    for (int i = 0; i < 20; ++i) send(i % 3, 8);
    write_over(random);
    for (int i = 0; i < 20; ++i) receive(i % 3, 8);
    for (int i = 0; i < 2; ++i) {
      others[i].to(static_cast<std::uint32_t>(1 - i));
      others[i].retract_all(static_cast<std::uint32_t>(1 - i));
      others[i].rank(static_cast<std::uint32_t>(1 - i));
      side[i].set_clock_at_end(others[i].clock().ahead_ns, others[i].clock().uncertainty_ns);
      side[i].set_node(&others[i]);
    }
  }
  for (int i = 0; i < 2; ++i) side[i].finish();
  EXPECT_EQ(table[0].summary.sent, 1000U);
  EXPECT_EQ(table[1].summary.received, 1000U);
}

TEST_F(WrittenOver, GivesNoMailboxThatIsNotThere) {
  EXPECT_NE(others[0].to(1), nullptr);
  auto* words = reinterpret_cast<std::uint32_t*>(shared_);
  std::mt19937_64 random(1);
  const auto is_inside = [&](const Mailbox* mailbox) {
    const char* at = reinterpret_cast<const char*>(mailbox);
    return at == nullptr || (at >= shared_ && at + Mailbox::bytes(static_cast<std::uint32_t>(others[0].mask() + 1)) <=
                                                  shared_ + Node::bytes(2));
  };
  for (int round = 0; round < 1000; ++round) {
    for (std::size_t i = 0; i < page / sizeof *words; ++i)
      words[i] = static_cast<std::uint32_t>(random() >> (round % 64));
    for (std::uint32_t i = 0; i < 2; ++i) {
      ASSERT_TRUE(is_inside(others[i].from(1 - i)));
      ASSERT_TRUE(is_inside(others[i].to(1 - i)));
    }
  }
}

}  // namespace
}  // namespace tare::mpi::sampling

// What goes from sender to receiver, and what becomes of it.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "mpi/sampling/sampler.h"

namespace tare::mpi::sampling {
namespace {

MessageRecord record(std::uint64_t channel, std::uint64_t number, std::uint64_t bytes = 8) {
  return {channel, number, 100, bytes, RecordKind::message, 1, 0, 1, 0, 0};
}

bool put(Mailbox& mailbox, std::uint64_t mask, std::uint64_t channel, std::uint64_t number) {
  return mailbox.put(mask, [&](MessageRecord& slot) { slot = record(channel, number); });
}

// Zeroed memory, aligned as mapped memory is.
class Memory {
 public:
  explicit Memory(std::size_t bytes) : at_(std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096)) {
    std::memset(at_, 0, bytes);
  }
  ~Memory() { std::free(at_); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  void* at() const { return at_; }

 private:
  void* at_;
};

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
  EXPECT_EQ(records->forget(1, 2, 3), 2U);
  EXPECT_EQ(records->forget_all(), 2U);
}

// What is retracted is said by whoever writes to the memory.
TEST(Records, AreForgottenUpToTheLastNumber) {
  auto records = std::make_unique<Records>();
  records->keep(record(1, UINT64_MAX));
  EXPECT_EQ(records->forget(1, UINT64_MAX - 5, UINT64_MAX), 1U);
  EXPECT_EQ(records->forget(1, 2, 1), 0U);
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

struct Table {
  format::SampleSummary summary{};
  std::vector<format::SampleClass> rows;
  explicit Table(std::uint32_t capacity) : rows(capacity) { summary.capacity = capacity; }
};

TEST(Classes, SplitTheLatency) {
  Table table(8);
  Classes classes;
  classes.use(&table.summary, table.rows.data());
  // Receiver first: it waited from 50 for a message sent at 100.
  classes.add({0, 1, 2, 64, 100, 40, 50, 130, 1, false, 0}, true);
  // Sender first: posted at 220, waited for at 240.
  classes.add({0, 1, 2, 64, 200, 220, 240, 250, 1, false, 0}, true);
  ASSERT_EQ(table.summary.classes, 2U);
  const format::SampleClass& c = table.rows[1];
  EXPECT_EQ(c.count, 2U);
  EXPECT_EQ(c.unexpected, 1U);
  EXPECT_EQ(c.latency, 30U + 50);
  EXPECT_EQ(c.latency_min, 30U);
  EXPECT_EQ(c.latency_max, 50U);
  EXPECT_EQ(c.late_sender, 50U);
  EXPECT_EQ(c.unposted, 20U);
  EXPECT_EQ(c.unwaited, 20U);
  EXPECT_EQ(c.transfer, 30U + 10);
  EXPECT_EQ(c.unposted + c.unwaited + c.transfer, c.latency);
  EXPECT_EQ(c.histogram[0], 1U);  // 30 has five bits
  EXPECT_EQ(c.histogram[1], 1U);  // 50 has six
}

TEST(Classes, AFullTableCountsWhatItDoesNotTellApart) {
  Table table(4);
  Classes classes;
  classes.use(&table.summary, table.rows.data());
  for (std::uint64_t bytes = 0; bytes < 10; ++bytes)
    for (std::uint64_t n = 0; n <= bytes; ++n) classes.add({0, 1, 2, bytes, 100, 40, 50, 130, 1, false, 0}, false);
  EXPECT_EQ(table.summary.classes, 4U);
  std::uint64_t told_apart = 0;
  for (unsigned i = 1; i < 4; ++i) told_apart += table.rows[i].count;
  EXPECT_EQ(told_apart, 1U + 2 + 3);
  EXPECT_EQ(table.rows[0].count, 55U - 6);
}

// Two samplers of one process that play two ranks of a node.
class TwoRanks : public testing::Test {
 protected:
  void begin(const char* text) {
    Spec spec;
    ASSERT_EQ(nullptr, format::parse_sample_spec(text, spec));
    for (int i = 0; i < 2; ++i) node[i].join(memory.at(), 2, static_cast<std::uint32_t>(i), i);
    for (int i = 0; i < 2; ++i) {
      side[i].begin(spec, text, &table[i].summary, table[i].rows.data());
      side[i].set_rank(i, [](const void*, std::int32_t peer) noexcept { return peer; });
      if (meets_at_once) side[i].set_node(&node[i]);
    }
  }
  void send(std::int32_t tag, std::uint64_t bytes, bool ends = true) {
    const Sent sent{bytes, 11, 1, "MPI_COMM_WORLD"};
    ticket = {};
    SendChannel* channel = side[0].number_sent(1, 1, tag);
    if (channel == nullptr)
      side[0].begin_send(ticket, {1, 5, nullptr}, 1, tag, false, false, sent);
    else if (side[0].chooses(*channel))
      side[0].chosen(ticket, *channel, sent);
    if (ends) side[0].end_send(ticket, true);
  }
  void receive(std::int32_t tag, std::uint64_t bytes) {
    side[1].received({9, 5, nullptr}, {0, tag}, {200, 200, 300}, bytes, 22);
  }

  bool meets_at_once = true;
  Ticket ticket{};
  Memory memory{Node::bytes(2)};
  Node node[2];
  Table table[2] = {Table(64), Table(64)};
  std::unique_ptr<Sampler[]> side_ = std::make_unique<Sampler[]>(2);
  Sampler* side = side_.get();
};

TEST_F(TwoRanks, PairEveryMessageAtThresholdOne) {
  begin("random:1,stat");
  for (std::uint64_t i = 0; i < 100; ++i) send(static_cast<std::int32_t>(i % 3), 8 + i);
  // Channel by channel, which is another order.
  for (std::uint64_t tag = 0; tag < 3; ++tag)
    for (std::uint64_t i = tag; i < 100; i += 3) receive(static_cast<std::int32_t>(tag), 8 + i);
  for (int i = 0; i < 2; ++i) side[i].finish();
  EXPECT_EQ(table[0].summary.sent, 100U);
  EXPECT_EQ(table[0].summary.chosen, 100U);
  EXPECT_EQ(table[1].summary.received, 100U);
  EXPECT_EQ(table[1].summary.paired, 100U);
  EXPECT_EQ(table[1].summary.contradictory, 0U);
  EXPECT_EQ(table[1].summary.unpaired, 0U);
  EXPECT_EQ(table[1].rows[1].send_site, 11U);
  EXPECT_EQ(table[1].rows[1].receive_site, 22U);
}

// Somebody else writes to the memory that the ranks share: neither side reads or writes beyond it (a guard page stands
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

TEST_F(TwoRanks, PairReceivesWhoseNumberIsKnownWhenTheyArePosted) {
  begin("random:0.5,stat");
  constexpr std::int32_t tags = 3;
  for (std::int32_t tag = 0; tag < tags; ++tag) receive(tag, 1);  // from here on the channels are known
  for (std::int32_t tag = 0; tag < tags; ++tag) send(tag, 1);
  std::vector<std::uint32_t> posted;
  posted.reserve(60);
  for (int i = 0; i < 60; ++i) posted.push_back(side[1].number_posted(9, {0, i % tags}));
  for (int i = 0; i < 60; ++i) send(i % tags, 8 + static_cast<std::uint64_t>(i));
  for (int i = 59; i >= 0; --i) {
    ASSERT_NE(posted[static_cast<std::size_t>(i)] & numbered_bit, 0U);
    side[1].complete_posted(posted[static_cast<std::size_t>(i)], {200, 200, 300}, 8 + static_cast<std::uint64_t>(i),
                            22);
  }
  for (int i = 0; i < 2; ++i) side[i].finish();
  EXPECT_EQ(table[1].summary.received, 63U);
  EXPECT_GT(table[0].summary.chosen, 15U);
  EXPECT_LT(table[0].summary.chosen, 48U);
  EXPECT_EQ(table[1].summary.paired + table[1].summary.unpaired, table[0].summary.chosen);
  EXPECT_LE(table[1].summary.unpaired, 3U);  // of those received before they were sent
  EXPECT_EQ(table[1].summary.contradictory, 0U);
}

// The sender learns that all have come, then the receiver, which has received messages meanwhile.
TEST_F(TwoRanks, MeetLateAndLoseWhatWasBefore) {
  meets_at_once = false;
  begin("random:1,stat");
  const auto exchange = [&](int messages) {
    for (int i = 0; i < messages; ++i) {
      send(0, 8);
      receive(0, 8);
    }
  };
  exchange(10);
  side[0].set_node(&node[0]);
  exchange(20);
  send(0, 8);
  send(5, 8);
  side[1].set_node(&node[1]);
  receive(0, 8);
  receive(5, 8);
  exchange(40);
  for (int i = 0; i < 2; ++i) side[i].finish();
  EXPECT_EQ(table[0].summary.sent, 72U);
  EXPECT_EQ(table[0].summary.unreachable, 10U);
  EXPECT_EQ(table[1].summary.unpaired, 20U);
  EXPECT_EQ(table[1].summary.paired, 42U);
  EXPECT_EQ(table[1].summary.contradictory, 0U);
}

TEST_F(TwoRanks, GoOnWithJoiningNowAndThen) {
  static int calls;
  calls = 0;
  begin("random:1,stat");
  side[0].look(recorder::now());
  side[0].set_joining([]() noexcept { return ++calls == 2; });
  side[0].look(recorder::now());
  EXPECT_EQ(calls, 1);
  side[0].look(UINT64_MAX / 2);
  EXPECT_EQ(calls, 2);
  side[0].look(UINT64_MAX);
  EXPECT_EQ(calls, 2) << "there is no more to come";
}

// Below MPI_THREAD_MULTIPLE: one thread is in MPI, another one says what is sampled. For TSan.
TEST_F(TwoRanks, AreToldByAnotherThreadWhatToSample) {
  begin("none,stat");
  std::atomic<bool> over{false};
  std::thread other([&] {
    for (int i = 0; !over; ++i)
      EXPECT_EQ(nullptr, side[0].change(i % 2 == 0 ? "random:0.5,stat,size=4-" : "counter:3,1,freq,communicator=x"));
  });
  for (int i = 0; i < 20'000; ++i) {
    send(i % 3, 8);
    side[0].look(recorder::now());
    receive(i % 3, 8);
    side[1].look(recorder::now());
  }
  over = true;
  other.join();
  EXPECT_EQ(nullptr, side[0].change("random:1,stat,size=0-"));
  send(0, 8);
  receive(0, 8);
  const std::uint64_t chosen = table[0].summary.chosen;
  const std::uint64_t paired = table[1].summary.paired;
  send(0, 8);
  receive(0, 8);
  EXPECT_EQ(table[0].summary.chosen, chosen + 1) << "from the next message on";
  EXPECT_EQ(table[1].summary.paired, paired + 1);
  for (int i = 0; i < 2; ++i) side[i].finish();
  EXPECT_EQ(table[1].summary.contradictory, 0U);
}

TEST_F(TwoRanks, CountWhatIsNeverReceived) {
  begin("counter:2,0,stat");
  for (int i = 0; i < 10; ++i) send(0, 8);
  for (int i = 0; i < 4; ++i) receive(0, 8);
  for (int i = 0; i < 2; ++i) side[i].finish();
  EXPECT_EQ(table[0].summary.chosen, 5U);
  EXPECT_EQ(table[1].summary.paired, 2U);
  EXPECT_EQ(table[1].summary.unpaired, 3U);
}

TEST_F(TwoRanks, NarrowTheChoice) {
  begin("random:1,stat,size=16-32");
  for (std::uint64_t bytes : {8U, 16U, 32U, 64U}) {
    send(0, bytes);
    receive(0, bytes);
  }
  EXPECT_EQ(table[1].summary.paired, 2U);
  EXPECT_EQ(nullptr, side[0].change("random:1,stat,communicator=other"));
  EXPECT_NE(nullptr, side[0].change("nonsense"));
  send(0, 8);
  receive(0, 8);
  EXPECT_EQ(table[1].summary.paired, 2U);
  EXPECT_EQ(nullptr, side[0].change("random:1,stat,communicator=MPI_COMM_WORLD,function=MPI_Bsend"));
  EXPECT_EQ(nullptr, side[0].change("random:1"));
  send(0, 8);
  receive(0, 8);
  EXPECT_EQ(table[1].summary.paired, 3U);
}

// The second message has been sent, though the call that sent it was left: those behind it have other numbers.
// A call that sends was left, of a process with one thread or with `shared` state.
class TwoRanksOfWhichOneLeavesACall : public TwoRanks, public testing::WithParamInterface<bool> {};
INSTANTIATE_TEST_SUITE_P(Threads, TwoRanksOfWhichOneLeavesACall, testing::Bool());

TEST_P(TwoRanksOfWhichOneLeavesACall, TrustNoNumberOfItsChannel) {
  begin("random:1,stat");
  if (GetParam()) side[0].share();
  send(0, 8);
  receive(0, 8);
  send(1, 8);
  send(0, 16, false);
  side[0].left_send(1, 1, 0);
  send(0, 24);
  for (const std::uint64_t bytes : {24U, 16U}) receive(0, bytes);  // as if it had not been, in its place
  EXPECT_EQ(table[1].summary.paired, 1U) << "the first alone";
  EXPECT_EQ(table[1].summary.contradictory, 0U);
  send(2, 8);
  receive(2, 8);
  EXPECT_EQ(table[1].summary.paired, 2U) << "other channels go on";
  for (int i = 0; i < 2; ++i) side[i].finish();
}

TEST_F(TwoRanks, TrustNoNumberBehindAReceiveThatWasLost) {
  begin("random:1,stat");
  send(0, 8);
  receive(0, 8);
  EXPECT_EQ(table[1].summary.paired, 1U);
  side[1].forget_numbers();
  for (const std::int32_t tag : {0, 1}) {
    send(tag, 8);
    receive(tag, 8);
  }
  EXPECT_EQ(table[1].summary.paired, 1U);
  EXPECT_EQ(table[1].summary.unnumbered, 2U);
  for (int i = 0; i < 2; ++i) side[i].finish();
}

TEST_F(TwoRanks, RetractWhatTwoThreadsSentAtATime) {
  begin("random:1,stat");
  side[0].share();
  send(0, 8);
  receive(0, 8);
  Ticket first{};
  std::swap(first, ticket);
  send(0, 16, false);
  std::swap(first, ticket);
  send(0, 24, false);  // while the first is under way
  side[0].end_send(ticket, true);
  side[0].end_send(first, true);
  send(0, 32);
  receive(0, 24);  // in the other order
  receive(0, 16);
  receive(0, 32);
  for (int i = 0; i < 2; ++i) side[i].finish();
  EXPECT_EQ(table[0].summary.chosen, 4U);
  EXPECT_EQ(table[0].summary.ambiguous, 2U);
  EXPECT_EQ(table[1].summary.paired, 2U);
  EXPECT_EQ(table[1].summary.contradictory, 0U);
  EXPECT_EQ(table[1].summary.unpaired, 0U);
}

TEST_F(TwoRanks, CountReceivesThatTwoThreadsPostedAtATime) {
  begin("random:1,stat");
  side[1].share();
  const auto post = [&] { return side[1].post({9, 5, nullptr}, {0, 0}, false); };
  const auto complete = [&](std::uint32_t receive, std::uint64_t bytes) {
    ASSERT_TRUE(side[1].match(receive, {0, 0}));
    side[1].complete(receive, 200, 300, bytes);
  };
  const std::uint32_t a = post();
  const std::uint32_t b = post();
  for (const std::uint32_t receive : {a, b}) side[1].posted(receive, false, 100, 22);
  send(0, 8);
  complete(b, 8);  // in the other order
  send(0, 16);
  complete(a, 16);
  for (int i = 0; i < 2; ++i) side[i].finish();
  EXPECT_EQ(table[1].summary.ambiguous_received, 2U);
  EXPECT_EQ(table[1].summary.paired, 0U);
  EXPECT_EQ(table[1].summary.unpaired, 0U);
}

TEST_F(TwoRanks, TrustNothingBehindACancelledSend) {
  begin("random:1,stat");
  send(0, 8);
  send(0, 16);
  side[0].cancelling_send();
  receive(0, 16);  // the first was cancelled
  send(0, 24);
  receive(0, 24);
  EXPECT_EQ(table[1].summary.paired, 0U);
  EXPECT_EQ(table[0].summary.unreachable, 1U);
  EXPECT_EQ(table[1].summary.contradictory, 0U);
}

// The same on two nodes. What is told lies in `way` until somebody listens.
class TwoNodes : public TwoRanks {
 protected:
  void begin(const char* text) {
    Spec spec;
    ASSERT_EQ(nullptr, format::parse_sample_spec(text, spec));
    way.clear();
    for (int i = 0; i < 2; ++i) {
      node[i].join(nodes[i].at(), 1, 0, i);
      side[i].begin(spec, text, &table[i].summary, table[i].rows.data());
      side[i].set_rank(i, [](const void*, std::int32_t peer) noexcept { return peer; });
      side[i].set_node(&node[i]);
      side[i].set_private_path({[](const MessageRecord& record, std::int32_t) noexcept {
                                  way.push_back(record);
                                  return true;
                                },
                                [](MessageRecord& record) noexcept {
                                  if (way.empty()) return false;
                                  record = way.front();
                                  way.pop_front();
                                  return true;
                                }});
      side[i].set_clock_offset(0, 50, i);
    }
  }
  void receive_now(std::int32_t tag, std::uint64_t bytes) {
    const std::uint64_t now = recorder::now();
    side[1].received({9, 5, nullptr}, {0, tag}, {now, now, now}, bytes, 22);
  }

  static inline std::deque<MessageRecord> way;
  Memory nodes[2] = {Memory(Node::bytes(1)), Memory(Node::bytes(1))};
};

TEST_F(TwoNodes, PairWhateverComesFirst) {
  for (const char* text : {"random:1,stat", "counter:1,0,stat"}) {
    table[0] = table[1] = Table(64);
    side_ = std::make_unique<Sampler[]>(2);
    side = side_.get();
    begin(text);
    for (int round = 0; round < 100; ++round) {
      for (std::uint64_t i = 0; i < 6; ++i) send(static_cast<std::int32_t>(i % 3), 8 + i);
      if (round % 2 == 0) side[1].listen();
      for (std::uint64_t tag = 0; tag < 3; ++tag)
        for (std::uint64_t i = tag; i < 6; i += 3) receive_now(static_cast<std::int32_t>(tag), 8 + i);
      if (round % 10 == 0) side[1].poll();
    }
    side[1].listen();
    for (int i = 0; i < 2; ++i) side[i].finish();
    EXPECT_EQ(table[0].summary.chosen, 600U) << text;
    EXPECT_EQ(table[1].summary.paired, 600U) << text;
    EXPECT_EQ(table[1].summary.contradictory, 0U);
    EXPECT_EQ(table[1].summary.recordless, 0U);
    EXPECT_EQ(table[1].summary.unpaired, 0U);
    std::uint64_t count = 0;
    for (const format::SampleClass& c : table[1].rows) {
      count += c.count;
      if (c.count == 0) continue;
      EXPECT_GE(c.uncertainty_ns, 100U);
      EXPECT_LT(c.latency_max, 60'000'000'000U);
    }
    EXPECT_EQ(count, 600U);
  }
}

TEST_F(TwoNodes, PairMessagesWhoseCommunicatorExistsNoMore) {
  begin("random:1,stat");
  for (int i = 0; i < 3; ++i) send(0, 8);
  for (int i = 0; i < 3; ++i) receive_now(0, 8);
  side[1].forget_communicator(9);
  side[1].listen();
  side[1].forget_communicator(9);
  for (int i = 0; i < 2; ++i) side[i].finish();
  EXPECT_EQ(table[1].summary.paired, 3U);
  EXPECT_EQ(table[1].summary.recordless, 0U);
}

TEST_F(TwoNodes, CountWhatNobodyTellsOf) {
  begin("random:1,stat");
  for (int i = 0; i < 10; ++i) send(0, 8);
  way.pop_back();
  for (int i = 0; i < 10; ++i) receive_now(0, 8);
  send(0, 8);
  side[1].listen();
  for (int i = 0; i < 2; ++i) side[i].finish();
  EXPECT_EQ(table[1].summary.paired, 9U);
  EXPECT_EQ(table[1].summary.recordless, 1U);
  EXPECT_EQ(table[1].summary.unpaired, 1U);
}

}  // namespace
}  // namespace tare::mpi::sampling

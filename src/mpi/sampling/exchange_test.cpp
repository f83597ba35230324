// What goes from sender to receiver on one node, and what becomes of it.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "mpi/sampling/testing/two_ranks.h"

namespace tare::mpi::sampling {
namespace {

using testing::TwoRanks;

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
class TwoRanksOfWhichOneLeavesACall : public TwoRanks, public ::testing::WithParamInterface<bool> {};
INSTANTIATE_TEST_SUITE_P(Threads, TwoRanksOfWhichOneLeavesACall, ::testing::Bool());

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

// MPI has refused an argument of the second call, so that its number belongs to the next message.
class TwoRanksOfWhichOneSendsWrongly : public TwoRanks, public ::testing::WithParamInterface<bool> {};
INSTANTIATE_TEST_SUITE_P(Threads, TwoRanksOfWhichOneSendsWrongly, ::testing::Bool());

TEST_P(TwoRanksOfWhichOneSendsWrongly, PairAllMessagesThatWereSent) {
  begin("random:1,stat");
  if (GetParam()) side[0].share();
  send(0, 8);
  send(1, 8);
  send(0, 9, false);
  side[0].end_send(ticket, Outcome::refused);
  send(0, 16);
  receive(0, 8);
  receive(1, 8);
  receive(0, 16);
  send(2, 24);
  receive(2, 24);
  for (int i = 0; i < 2; ++i) side[i].finish();
  EXPECT_EQ(table[0].summary.sent, 4U);
  EXPECT_EQ(table[0].summary.chosen, 4U);
  EXPECT_EQ(table[0].summary.ambiguous, 0U);
  EXPECT_EQ(table[1].summary.paired, 4U);
  EXPECT_EQ(table[1].summary.contradictory, 0U);
  EXPECT_EQ(table[1].summary.unpaired, 0U);
}

TEST_F(TwoRanks, PairWhatIsSentAfterARefusalThatTheReceiverHasSeen) {
  begin("random:1,stat");
  send(0, 8);
  send(0, 9, false);
  receive(0, 8);  // reads the record behind it, too
  side[0].end_send(ticket, Outcome::refused);
  send(1, 8);
  receive(1, 8);
  send(0, 9);  // as long as the one that was refused
  receive(0, 9);
  for (int i = 0; i < 2; ++i) side[i].finish();
  EXPECT_EQ(table[0].summary.chosen, 3U);
  EXPECT_EQ(table[1].summary.paired, 3U);
  EXPECT_EQ(table[1].summary.unpaired, 0U);
}

TEST_F(TwoRanks, LoseOnlyTheChannelOfASendThatFailed) {
  begin("random:1,stat");
  send(1, 8);
  send(0, 9, false);
  side[0].end_send(ticket, Outcome::unknown);
  send(0, 16);
  receive(1, 8);
  receive(0, 16);
  for (int i = 0; i < 2; ++i) side[i].finish();
  EXPECT_EQ(table[1].summary.paired, 1U);
  EXPECT_EQ(table[0].summary.ambiguous, 1U);
  EXPECT_EQ(table[0].summary.unreachable, 1U);
}

TEST_F(TwoRanks, TrustNoNumberBehindAReceiveThatWasLost) {
  begin("random:1,stat");
  send(0, 8);
  receive(0, 8);
  EXPECT_EQ(table[1].summary.paired, 1U);
  side[1].lose_numbers();
  for (const std::int32_t tag : {0, 1}) {
    send(tag, 8);
    receive(tag, 8);
  }
  EXPECT_EQ(table[1].summary.paired, 1U);
  EXPECT_EQ(table[1].summary.unnumbered, 2U);
  side[0].begin_send(ticket, {2, 6, nullptr}, 1, 0, false, false, {8, 11, 1, "new"});  // on a new communicator
  side[1].received({10, 6, nullptr}, {0, 0}, {200, 200, 300}, 8, 22);
  EXPECT_EQ(table[1].summary.unnumbered, 3U);
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
  side[0].end_send(ticket, Outcome::sent);
  side[0].end_send(first, Outcome::sent);
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

}  // namespace
}  // namespace tare::mpi::sampling

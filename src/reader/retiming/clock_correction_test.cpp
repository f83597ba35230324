#include "reader/retiming/clock_correction.h"

#include <gtest/gtest.h>

#include "reader/matching/match_stream.h"
#include "reader/testing/scripted_run.h"

namespace tare::reader {
namespace {

using namespace synthetic;

constexpr std::int64_t origin = 1'700'000'000'000'000'000 + 2000;  // where scripts begin

class ClockCorrectionTest : public ScriptedRun {
 protected:
  void correct() {
    ASSERT_NO_FATAL_FAILURE(open());
    auto done = correct_clocks(*run);
    ASSERT_TRUE(done) << done.error();
    correction = std::move(*done);
  }
  std::vector<Message> messages() {
    std::vector<Message> all;
    auto stream = MatchStream::open(*run);
    EXPECT_TRUE(stream);
    while (stream->next()) all.insert(all.end(), stream->messages().begin(), stream->messages().end());
    return all;
  }

  ClockCorrection correction;
};

TEST_F(ClockCorrectionTest, ClocksThatAgreeAreLeftAlone) {
  ranks[0].call("MPI_Send", 10, 1, 3);
  ranks[1].call("MPI_Recv", 30, 0, 3);
  correct();
  EXPECT_TRUE(correction.violations.empty());
  EXPECT_EQ(correction.rounds, 1U);
  EXPECT_EQ(correction.max_moved_ns, 0);
  EXPECT_EQ(correction.maps[1], nullptr);
}

// The clock of rank 1 is 1000 ns behind. In reality it receives the message 20 ns after it was sent.
TEST_F(ClockCorrectionTest, AMessageIsReceivedAfterItWasSent) {
  ranks[0].compute(2000);
  ranks[0].call("MPI_Send", 10, 1, 3);
  ranks[1].compute(1000);
  ranks[1].call("MPI_Recv", 20, 0, 3);
  ranks[1].compute(100);
  ranks[1].call("MPI_Send", 10, 0, 4);
  ranks[0].call("MPI_Recv", 150, 1, 4);
  correct();
  ASSERT_EQ(correction.violations.size(), 1U);
  const Violations& of = correction.violations[0];
  EXPECT_EQ(of.rank, 1);
  EXPECT_EQ(of.other_rank, 0);
  EXPECT_EQ(of.messages, 1U);
  EXPECT_EQ(of.collectives, 0U);
  EXPECT_EQ(of.most_ns, 980);
  EXPECT_EQ(correction.remaining, 0U);
  EXPECT_EQ(correction.maps[0], nullptr);
  const auto all = messages();
  ASSERT_EQ(all.size(), 2U);
  for (const Message& message : all) EXPECT_GE(message.received.completed.leave_ns, message.sent.posted.enter_ns);
  const Message& first = all[0].tag == 3 ? all[0] : all[1];
  const Message& second = all[0].tag == 3 ? all[1] : all[0];
  EXPECT_EQ(first.received.posted.enter_ns, origin + 1000);  // it was there before, as recorded
  EXPECT_EQ(first.received.completed.leave_ns, origin + 2000);
  // What follows keeps its distance, except for the hundredth by which the correction decreases.
  EXPECT_EQ(second.sent.posted.enter_ns, origin + 2000 + 100 - 1);
}

TEST_F(ClockCorrectionTest, CorrectionsPassFromRankToRank) {
  ranks.resize(4);
  ranks[0].compute(5000);
  ranks[0].call("MPI_Send", 10, 1, 3);
  for (std::int32_t rank = 1; rank < 4; ++rank) {
    ranks[rank].compute(static_cast<std::uint64_t>(100 * rank));
    ranks[rank].call("MPI_Recv", 20, rank - 1, 3);
    if (rank < 3) ranks[rank].call("MPI_Send", 10, rank + 1, 3);
  }
  correct();
  EXPECT_EQ(correction.violations.size(), 1U);  // the clocks of the other ranks agree, before the correction
  EXPECT_EQ(correction.remaining, 0U);
  EXPECT_EQ(correction.rounds, 4U);
  for (const Message& message : messages())
    EXPECT_GE(message.received.completed.leave_ns, message.sent.posted.enter_ns) << message.source;
}

TEST_F(ClockCorrectionTest, NobodyLeavesABarrierBeforeTheLastHasCome) {
  ranks[0].compute(5000);
  for (Script& rank : ranks) rank.call("MPI_Barrier", 20);
  correct();
  ASSERT_EQ(correction.violations.size(), 1U);
  EXPECT_EQ(correction.violations[0].collectives, 1U);
  EXPECT_EQ(correction.violations[0].most_ns, 4980);
  EXPECT_EQ(correction.remaining, 0U);
  EXPECT_EQ(correction.max_moved_ns, 4980);
}

TEST_F(ClockCorrectionTest, ACorrectionFades) {
  ranks[0].compute(1000);
  ranks[0].call("MPI_Send", 10, 1, 3);
  ranks[1].call("MPI_Recv", 20, 0, 3);
  ranks[1].compute(200'000);  // twice as long as 980 ns last, at one in a hundred
  ranks[1].call("MPI_Barrier", 10);
  ranks[0].call("MPI_Barrier", 201'000);
  correct();
  ASSERT_NE(correction.maps[1], nullptr);
  const auto moved_ns = [&](std::int64_t ns) { return (correction.maps[1]->process)(origin + ns) - origin - ns; };
  EXPECT_EQ(moved_ns(20), 980);
  EXPECT_NEAR(static_cast<double>(moved_ns(20 + 49'000)), 490, 1);
  EXPECT_EQ(moved_ns(20 + 98'000), 0);
}

}  // namespace
}  // namespace tare::reader

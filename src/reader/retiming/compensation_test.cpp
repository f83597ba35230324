#include "reader/retiming/compensation.h"

#include <gtest/gtest.h>

#include "reader/events/event_stream.h"
#include "reader/testing/scripted_run.h"

namespace tare::reader {
namespace {

using namespace synthetic;

constexpr std::int64_t origin = 1'700'000'000'000'000'000 + 2000;  // where scripts begin

class CompensationTest : public ScriptedRun {
 protected:
  using Spans = std::vector<std::pair<std::int64_t, std::int64_t>>;

  void compensate_run() {
    ASSERT_NO_FATAL_FAILURE(open());
    auto done = compensate(*run);
    ASSERT_TRUE(done) << done.error();
    compensation = std::move(*done);
  }
  // The begins and ends of the calls of a rank.
  Spans calls(std::int32_t rank) {
    Spans all;
    auto events = EventStream::open(*run, {});
    EXPECT_TRUE(events);
    for (const EventRow& row : events->next(1000))
      if (row.rank == rank && row.kind == EventKind::call)
        all.emplace_back(row.start_ns - origin, row.start_ns - origin + row.duration_ns);
    return all;
  }

  Compensation compensation;
};

TEST_F(CompensationTest, AFlushTakesNoTime) {
  ranks[0].call("MPI_Comm_dup", 10);
  ranks[0].flushes(500);
  ranks[0].call("MPI_Comm_dup", 10);
  compensate_run();
  EXPECT_EQ(calls(0), (Spans{{0, 10}, {10, 20}}));
  EXPECT_EQ(compensation.flush_ns, 500);
  EXPECT_EQ(compensation.wrapper_ns, 0);  // nothing was weighed
  EXPECT_EQ(compensation.earlier_ns, 500);
}

// Rank 0 flushes before it sends, so rank 1 waits 500 ns longer than without the flush.
TEST_F(CompensationTest, OthersDoNotWaitForAFlush) {
  ranks[0].compute(100);
  ranks[0].flushes(500);
  ranks[0].call("MPI_Send", 10, 1, 3);
  ranks[1].compute(50);
  ranks[1].call("MPI_Recv", 570, 0, 3);  // until 20 ns after the send began
  ranks[1].call("MPI_Comm_dup", 10);
  compensate_run();
  EXPECT_EQ(calls(0), (Spans{{100, 110}}));
  EXPECT_EQ(calls(1), (Spans{{50, 120}, {120, 130}}));
  EXPECT_EQ(compensation.earlier_ns, 500);
}

// Without the flush, rank 1 posts the receive before the message is sent, and has to wait.
TEST_F(CompensationTest, WhoFlushesMayHaveToWaitWithoutIt) {
  ranks[0].compute(400);
  ranks[0].call("MPI_Send", 10, 1, 3);
  ranks[1].compute(50);
  ranks[1].flushes(500);
  ranks[1].call("MPI_Recv", 20, 0, 3);
  compensate_run();
  EXPECT_EQ(calls(1), (Spans{{50, 420}}));
  EXPECT_EQ(compensation.earlier_ns, 150);
}

TEST_F(CompensationTest, ABarrierEndsWhenTheLastHasCome) {
  ranks.resize(3);
  ranks[0].compute(100);
  ranks[1].compute(100);
  ranks[1].flushes(500);
  ranks[2].compute(300);
  for (std::size_t rank = 0; rank < 3; ++rank) ranks[rank].call("MPI_Barrier", 610 - (ranks[rank].now() - 2000));
  compensate_run();
  EXPECT_EQ(calls(0), (Spans{{100, 310}}));
  EXPECT_EQ(calls(1), (Spans{{100, 310}}));
  EXPECT_EQ(calls(2), (Spans{{300, 310}}));
}

TEST_F(CompensationTest, AnEagerSendDoesNotWait) {
  ranks[0].flushes(500);
  ranks[0].call("MPI_Send", 10, 1, 3);
  ranks[1].call("MPI_Recv", 1000, 0, 3);
  ranks[0].compute(100);
  ranks[0].call("MPI_Comm_dup", 10);
  compensate_run();
  EXPECT_EQ(calls(0), (Spans{{0, 10}, {110, 120}}));
}

// A receive that is posted at the time of the send was there before it, as far as is known.
TEST_F(CompensationTest, ASendDoesNotWaitForAReceiveThatIsPostedAtTheSameTime) {
  ranks[0].flushes(500);
  ranks[0].call("MPI_Ssend", 10, 1, 3);
  ranks[1].compute(500);
  ranks[1].call("MPI_Recv", 10, 0, 3);
  compensate_run();
  EXPECT_EQ(calls(0), (Spans{{0, 10}}));
}

TEST_F(CompensationTest, ASendWaitsForAReceiveThatIsPostedLater) {
  ranks[0].flushes(500);
  ranks[0].call("MPI_Ssend", 10, 1, 3);
  ranks[1].compute(501);
  ranks[1].call("MPI_Recv", 9, 0, 3);
  compensate_run();
  EXPECT_EQ(calls(0), (Spans{{0, 510}}));
}

// A receive that ends when the send begins waited for it. If it ends before that, the clocks disagree, and it stays.
TEST_F(CompensationTest, AReceiveThatEndsBeforeTheSendBeginsStays) {
  for (const std::int64_t earlier : {0, 1}) {
    ranks = std::vector<Script>(2);
    ranks[0].compute(100);
    ranks[0].flushes(500);
    ranks[0].call("MPI_Send", 10, 1, 3);
    ranks[1].call("MPI_Recv", static_cast<std::uint64_t>(600 - earlier), 0, 3);
    compensate_run();
    EXPECT_EQ(calls(1), (Spans{{0, earlier == 0 ? 100 : 599}}));
  }
}

}  // namespace
}  // namespace tare::reader

#include "reader/replay/replay.h"

#include <gtest/gtest.h>

#include "format/functions.h"
#include "reader/matching/call_role.h"
#include "reader/replay/replay_engine.h"
#include "reader/testing/script.h"
#include "reader/testing/synthetic.h"

namespace tare::reader {
namespace {

using namespace synthetic;
using format::any_source;
using format::any_tag;
using format::Function;
using format::meaning_of;
using format::no_bytes;
using format::no_peer;
using format::no_tag;

class ReplayTest : public ::testing::Test {
 protected:
  ReplayedWorld replayed(const std::vector<Without>& changes = {}) {
    const std::string file = run_of(ranks, second);
    auto run = reader::Run::of_memory(file);
    EXPECT_TRUE(run) << run.error();
    const auto worlds = replay(*run, changes);
    EXPECT_TRUE(worlds) << worlds.error();
    EXPECT_EQ(worlds->size(), 1U);
    return worlds->front();
  }
  void expect(std::int64_t useful, std::int64_t ideal, std::int64_t runtime, std::int64_t unknown = 0) {
    const ReplayedWorld found = replayed();
    EXPECT_EQ(found.obstacle, "");
    EXPECT_EQ(found.useful_ns, useful);
    EXPECT_EQ(found.ideal_ns, ideal);
    EXPECT_EQ(found.runtime_ns, runtime);
    EXPECT_EQ(found.unknown_ns, unknown);
  }

  std::vector<Script> ranks{2};
  std::vector<SecondThread> second;
};

TEST_F(ReplayTest, TransferAloneIsGone) {
  for (Script& rank : ranks) rank.compute(1000);
  ranks[0].call("MPI_Send", 500, 1, 3);
  ranks[1].call("MPI_Recv", 700, 0, 3);
  for (Script& rank : ranks) rank.compute(1000);
  expect(2000, 2000, 2700);
}

TEST_F(ReplayTest, WhatAFlightRecorderHasKeptMayBeginAnywhere) {
  for (Script& rank : ranks) {
    rank.is_overwritten(100'000);
    rank.call("MPI_Barrier", 10);
  }
  EXPECT_EQ(replayed().obstacle, "the trace has gaps");
}

TEST_F(ReplayTest, APipelineStaysSerial) {
  // Rank 1 can only begin after rank 0 has ended.
  ranks[0].compute(1000);
  ranks[0].call("MPI_Send", 50, 1, 3);
  ranks[1].call("MPI_Recv", 1080, 0, 3);
  ranks[1].compute(1000);
  expect(1000, 2000, 2080);
}

TEST_F(ReplayTest, ChangesSayWhatWouldBeGained) {
  // Rank 0 computes for 1000, rank 1 for 200; after the barrier both compute for 100.
  for (std::size_t rank = 0; rank < 2; ++rank) {
    ranks[rank].compute(rank == 0 ? 1000 : 200);
    ranks[rank].at(1);
    ranks[rank].call("MPI_Barrier", rank == 0 ? 10 : 810);
    ranks[rank].compute(100);
  }
  const Without even{0, {{0, 0, 0.6}, {1, 0, 3.0}}, {}, {}}, none{0, {}, {0}, {}}, elsewhere{1, {}, {0}, {}};
  const ReplayedWorld found = replayed({even, none, elsewhere});
  EXPECT_EQ(found.ideal_ns, 1100);
  EXPECT_EQ(found.without_ns, (std::vector<std::int64_t>{700, 1100}));
}

TEST_F(ReplayTest, WorkIsSharedEachTime) {
  // Rank 0 computes for 1000 once, then both for 100; rank 1 has no processor for half of its time.
  for (std::size_t rank = 0; rank < 2; ++rank) {
    for (int i = 0; i < 3; ++i) {
      ranks[rank].compute(rank == 0 && i == 0 ? 1000 : 100);
      ranks[rank].at(1);
      ranks[rank].call("MPI_Barrier", rank == 1 && i == 0 ? 910 : 10);
    }
  }
  const Without even{0, {}, {}, {{0, 0, 0.0}, {1, 0, 0.0}}}, half{0, {}, {}, {{0, 0, 0.0}, {1, 0, 0.5}}},
      alone{0, {}, {}, {{0, 0, 0.0}}};
  const ReplayedWorld found = replayed({even, half, alone});
  EXPECT_EQ(found.ideal_ns, 1200);
  // 550, 100 and 100; 575, 125 and 125 of the rank that keeps 50 each time; 500 of rank 0, then 100 of rank 1.
  EXPECT_EQ(found.without_ns, (std::vector<std::int64_t>{750, 825, 700}));
}

TEST_F(ReplayTest, WorkIsSharedInEachPartToo) {
  // Before each of two barriers, rank 0 computes for 400 once, rank 1 for 100 twice.
  for (std::size_t rank = 0; rank < 2; ++rank) {
    for (int half = 0; half < 2; ++half) {
      for (int i = 0; i < (rank == 0 ? 1 : 2); ++i) {
        ranks[rank].compute(rank == 0 ? 400 : 100);
        ranks[rank].at(1);
        ranks[rank].call("MPI_Iprobe", 0);
      }
      ranks[rank].at(2);
      ranks[rank].call("MPI_Barrier", rank == 0 ? 10 : 210);
    }
  }
  const ReplayedWorld found = replayed({{0, {}, {}, {{0, 0, 0.0}, {1, 0, 0.0}}}});
  EXPECT_EQ(found.obstacle, "");
  EXPECT_EQ(found.ideal_ns, 800);
  // By number: 250 twice, and then 50 twice on rank 1 alone. By part: 300 twice, and 150 four times on rank 1.
  EXPECT_EQ(found.without_ns, std::vector<std::int64_t>{750});
  EXPECT_EQ(found.without_by_part_ns, std::vector<std::int64_t>{600});
}

TEST_F(ReplayTest, MessagesOfAChannelAreTakenInOrder) {
  for (int i = 0; i < 3; ++i) {
    ranks[0].compute(100);
    ranks[0].call("MPI_Send", 10, 1, 3);
  }
  ranks[0].call("MPI_Send", 10, 1, 4);
  // The message with the other tag is received first, then the others in order; the third is sent at 300.
  ranks[1].call("MPI_Recv", 400, 0, 4);
  for (int i = 0; i < 3; ++i) ranks[1].call("MPI_Recv", 10, 0, 3);
  ranks[1].compute(50);
  expect(300, 350, 480);
}

TEST_F(ReplayTest, ReceivesAreWaitedForWhereTheyComplete) {
  ranks[0].compute(600);
  ranks[0].call("MPI_Isend", 10, 1, 3, 5);
  ranks[0].call("MPI_Wait", 10);
  ranks[0].completes(5);
  ranks[1].call("MPI_Irecv", 10, 0, 3, 6);
  ranks[1].compute(500);  // meanwhile
  ranks[1].call("MPI_Wait", 200);
  ranks[1].completes(6, 0, 3);
  ranks[1].compute(100);
  expect(600, 700, 810);
}

TEST_F(ReplayTest, WhatCompletionsWaitForIsNotAlwaysKnown) {
  // A partitioned receive, an access to a window, and an exchange whose status does not say what it received.
  ranks[0].call("MPI_Start", 10, no_peer, no_tag, 6);
  ranks[0].call("MPI_Wait", 500);
  ranks[0].completes(6, 1, 3);
  ranks[0].call("MPI_Rget", 10, 1, no_tag, 7, Script::window);
  ranks[0].call("MPI_Wait", 300);
  ranks[0].completes(7);
  ranks[0].call("MPI_Isendrecv", 10, 1, 3, 8);
  ranks[0].call("MPI_Wait", 200);
  ranks[0].completes(8);
  ranks[1].call("MPI_Start", 10, no_peer, no_tag, 5, 1, 8);
  ranks[1].compute(500);
  ranks[1].call("MPI_Wait", 10);
  ranks[1].completes(5);
  expect(500, 1000, 1030, 1000);
}

TEST_F(ReplayTest, ACallThatFailedSendsNothing) {
  ranks[0].fails("MPI_Send", 10, 1, 3);
  ranks[0].compute(400);
  ranks[0].call("MPI_Send", 10, 1, 3);
  ranks[1].call("MPI_Recv", 500, 0, 3);
  expect(400, 400, 500);
}

TEST_F(ReplayTest, AWildcardTakesTheMessageThatItTook) {
  ranks.resize(3);
  ranks[0].compute(100);
  ranks[0].call("MPI_Send", 10, 2, 8);
  ranks[1].compute(900);
  ranks[1].call("MPI_Send", 10, 2, 9);
  ranks[2].call("MPI_Irecv", 10, any_source, any_tag, 4);
  ranks[2].call("MPI_Recv", 200, 0, 8);
  ranks[2].call("MPI_Waitall", 800);
  ranks[2].completes(4, 1, 9);
  ranks[2].compute(100);
  expect(900, 1000, 1110);
}

TEST_F(ReplayTest, ASynchronousSendWaitsForTheReceive) {
  ranks[0].call("MPI_Ssend", 800, 1, 3);
  ranks[0].compute(100);
  ranks[1].compute(700);
  ranks[1].call("MPI_Recv", 90, 0, 3);
  expect(700, 800, 900);
}

TEST_F(ReplayTest, AStandardSendDoesNot) {
  ranks[0].call("MPI_Send", 800, 1, 3);
  ranks[0].compute(100);
  ranks[1].compute(700);
  ranks[1].call("MPI_Recv", 90, 0, 3);
  expect(700, 700, 900);
}

TEST_F(ReplayTest, RequestsThatAreStartedTogether) {
  // Rank 0 is ready at 100 and rank 1 at 300. Then both continue.
  for (const std::int32_t r : {0, 1}) {
    Script& rank = ranks[static_cast<std::size_t>(r)];
    rank.compute(r == 0 ? 100 : 300);
    rank.call("MPI_Startall", 10);
    rank.starts(11, 1 - r, 3, 8);
    rank.starts(12, 1 - r, 3, no_bytes);
    rank.call("MPI_Waitall", r == 0 ? 250 : 30);
    rank.completes(11);
    rank.completes(12, 1 - r, 3);
    rank.compute(50);
  }
  expect(350, 350, 410);
}

TEST_F(ReplayTest, ARequestThatIsStartedAlone) {
  // The row of the call describes its single request. Rank 1 is ready at 300; then rank 0 continues.
  ranks[0].compute(100);
  ranks[0].call("MPI_Start", 10, 1, 3, 12);
  ranks[0].call("MPI_Wait", 250);
  ranks[0].completes(12, 1, 3);
  ranks[0].compute(50);
  ranks[1].compute(300);
  ranks[1].call("MPI_Start", 10, 0, 3, 11, 1, 8);
  ranks[1].call("MPI_Wait", 10);
  ranks[1].completes(11);
  expect(300, 350, 410);
}

TEST_F(ReplayTest, CollectivesWaitAsTheyHaveTo) {
  struct Case {
    const char* function;
    std::int32_t root;
    std::int64_t ideal;  // for ranks that enter it at 100, 200 and 300, and then compute for 3000, 2000 and 1000
  };
  for (const Case& of : {Case{"MPI_Allreduce", no_peer, 3300}, Case{"MPI_Bcast", 2, 3300}, Case{"MPI_Bcast", 1, 3200},
                         Case{"MPI_Bcast", 0, 3100}, Case{"MPI_Gather", 0, 3300}, Case{"MPI_Gather", 1, 3100},
                         Case{"MPI_Scan", no_peer, 3100}, Case{"MPI_Exscan", no_peer, 3100}}) {
    ranks.assign(3, Script());
    for (std::uint64_t i = 0; i < 3; ++i) {
      ranks[i].compute(100 * (i + 1));
      ranks[i].call(of.function, 400, of.root);
      ranks[i].compute(1000 * (3 - i));
    }
    EXPECT_EQ(replayed().ideal_ns, of.ideal) << of.function << " of " << of.root;
  }
}

TEST_F(ReplayTest, AScanWaitsForTheRanksBelow) {
  ranks.assign(3, Script());
  ranks[0].compute(500);
  for (Script& rank : ranks) rank.call("MPI_Scan", 600);
  ranks[2].compute(1000);
  expect(1000, 1500, 1600);
}

TEST_F(ReplayTest, ANonBlockingCollectiveWaitsWhereItCompletes) {
  ranks[0].compute(700);
  ranks[0].call("MPI_Iallreduce", 10, no_peer, no_tag, 5);
  ranks[0].call("MPI_Wait", 10);
  ranks[0].completes(5);
  ranks[1].call("MPI_Iallreduce", 10, no_peer, no_tag, 6);
  ranks[1].compute(600);
  ranks[1].call("MPI_Wait", 200);
  ranks[1].completes(6);
  ranks[1].compute(100);
  expect(700, 800, 910);
}

TEST_F(ReplayTest, WhatCannotBeKnownTakesAsLongAsItTook) {
  ranks[0].call("MPI_File_write", 300, no_peer, no_tag, format::no_request, 0);
  ranks[0].call("MPI_Neighbor_alltoall", 200);
  ranks[0].compute(100);
  expect(100, 600, 600, 500);
}

TEST_F(ReplayTest, LocalCallsTakeNoTime) {
  ranks[0].call("MPI_Type_commit", 300);
  ranks[0].call("MPI_Iprobe", 100, 1, 3);
  ranks[0].call("MPI_Send", 100, format::proc_null, 3);
  ranks[0].call("MPI_Recv", 100, format::proc_null, any_tag);
  ranks[0].compute(100);
  expect(100, 100, 700);
}

TEST_F(ReplayTest, EveryThreadWaitsForItself) {
  // The first thread of rank 0 waits for rank 1. Its second thread, which begins at 100, computes in the meantime, and
  // then sends the message that rank 1 needs.
  ranks[0].call("MPI_Recv", 1200, 1, 3);
  ranks[0].compute(300);
  Script other;
  other.compute(100);
  other.call("MPI_Iprobe", 50);
  other.compute(600);
  other.call("MPI_Send", 50, 1, 4);
  ranks[1].call("MPI_Recv", 850, 0, 4);
  ranks[1].compute(250);
  ranks[1].call("MPI_Send", 100, 0, 3);
  second = {{0, other}};
  // 100 to the probe, 600, 250 on rank 1, and 300 on rank 0.
  expect(614, 1250, 1500);  // the mean of threads that live 1500 and 700, with 300 and 600 outside MPI
}

TEST_F(ReplayTest, AThreadBeginsWhenTheFirstHasComeThere) {
  // The transfers of 1000 and 900 take no time in the replay.
  ranks[0].compute(100);
  ranks[0].call("MPI_Recv", 1000, 1, 3);
  ranks[0].compute(50);
  ranks[0].call("MPI_Recv", 900, 1, 4);
  for (const std::int32_t tag : {3, 4}) ranks[1].call("MPI_Send", 10, 0, tag);
  const auto first_call_at = [&](std::uint64_t ticks) {
    Script other;
    other.compute(ticks);
    other.call("MPI_Send", 10, 1, 5);
    other.compute(400);
    other.call("MPI_Send", 10, 1, 5);
    second = {{0, other}};
  };
  first_call_at(1120);  // 20 after the first receive, which ends at 100
  expect(456, 520, 2050);
  first_call_at(1300);  // 150 after the start of the second receive, at 150
  expect(456, 700, 2050);
}

TEST_F(ReplayTest, AnotherThreadMayCompleteARequest) {
  // The second thread waits for a receive with MPI_ANY_SOURCE that the first thread has posted.
  ranks[0].call("MPI_Irecv", 10, any_source, any_tag, 6);
  ranks[0].compute(40);
  ranks[0].call("MPI_Iprobe", 1000);
  Script other;
  other.compute(30);
  other.call("MPI_Wait", 570);
  other.completes(6, 1, 3);
  other.compute(70);
  other.call("MPI_Iprobe", 10);
  second = {{0, other}};
  ranks[1].compute(500);
  ranks[1].call("MPI_Send", 10, 0, 3);
  expect(500, 570, 1050);
}

TEST_F(ReplayTest, ObstaclesAreNamed) {
  ranks[0].call("MPI_Recv", 100, 1, 3);
  EXPECT_EQ(replayed().obstacle, "a rank waits for a call that is not in the trace");
  ranks[0].loses();
  EXPECT_EQ(replayed().obstacle, "the trace has gaps");
}

TEST(ReplayEngine, EventsHappenWhenTheLastHasReachedThem) {
  ReplayEngine engine;
  const auto both = engine.add_event(2);
  const auto after = engine.add_event();
  engine.order(both, after);
  for (const std::int64_t start : {0, 40}) {
    const std::size_t line = engine.add_timeline(start);
    engine.spend(line, 100);
    engine.reach(line, both);
  }
  const std::size_t waits = engine.add_timeline(0);
  engine.reach(waits, after);
  engine.await(waits, after);
  engine.spend(waits, 5);
  EXPECT_EQ(engine.run(), (std::vector<std::int64_t>{100, 140, 145}));
}

TEST(ReplayEngine, RunsAgainWithChanges) {
  ReplayEngine engine;
  const auto sent = engine.add_event();
  const std::size_t sender = engine.add_timeline(0), receiver = engine.add_timeline(0);
  engine.spend(sender, 100, 1);
  engine.reach(sender, sent);
  engine.spend(receiver, 20, 2);
  engine.await(receiver, sent, 7);
  engine.spend(receiver, 5);
  using Ends = std::vector<std::int64_t>;
  EXPECT_EQ(engine.run(), (Ends{100, 105}));
  EXPECT_EQ(engine.run({{{}, {0.5}, {2}}, {}}), (Ends{50, 55}));
  EXPECT_EQ(engine.run({{}, std::vector<bool>(8, true)}), (Ends{100, 25}));
  EXPECT_EQ(engine.run(), (Ends{100, 105}));
}

TEST(ReplayEngine, AChangeLimitsEachTime) {
  ReplayEngine engine;
  const std::size_t timeline = engine.add_timeline(0);
  for (const std::int64_t ns : {100, 700, 100}) engine.spend(timeline, ns, 1);
  engine.spend(timeline, 600);
  EXPECT_EQ(engine.run({{{}, {1, 150}}, {}}), (std::vector<std::int64_t>{350 + 600}));
}

TEST(CallRole, FollowsFromTheMeaning) {
  const auto role_of = [](Function function) { return role_of_call(meaning_of(static_cast<unsigned>(function))); };
  EXPECT_EQ(role_of(Function::MPI_Send_c), CallRole::send);
  EXPECT_EQ(role_of(Function::MPI_Bsend), CallRole::send);
  EXPECT_EQ(role_of(Function::MPI_Issend), CallRole::synchronous_send);
  EXPECT_EQ(role_of(Function::MPI_Ssend_init), CallRole::local);
  EXPECT_EQ(role_of(Function::MPI_Imrecv), CallRole::receive);
  EXPECT_EQ(role_of(Function::MPI_Isendrecv), CallRole::exchange);
  EXPECT_EQ(role_of(Function::MPI_Mprobe), CallRole::local);
  EXPECT_EQ(role_of(Function::MPI_Startall), CallRole::starts);
  EXPECT_EQ(role_of(Function::MPI_Testany), CallRole::completes);
  EXPECT_EQ(role_of(Function::MPI_Request_get_status), CallRole::local);
  EXPECT_EQ(role_of(Function::MPI_Ibcast), CallRole::from_root);
  EXPECT_EQ(role_of(Function::MPI_Reduce), CallRole::to_root);
  EXPECT_EQ(role_of(Function::MPI_Iscan_c), CallRole::scan);
  EXPECT_EQ(role_of(Function::MPI_Ireduce_scatter_block_c), CallRole::to_all);
  EXPECT_EQ(role_of(Function::MPI_Alltoallw), CallRole::to_all);
  EXPECT_EQ(role_of(Function::MPI_Comm_idup), CallRole::to_all);
  EXPECT_EQ(role_of(Function::MPI_Win_free), CallRole::to_all);
  EXPECT_EQ(role_of(Function::MPI_Comm_free), CallRole::unknown);
  EXPECT_EQ(role_of(Function::MPI_Ineighbor_allgather), CallRole::unknown);
  EXPECT_EQ(role_of(Function::MPI_File_iread_all), CallRole::may_wait);
  EXPECT_EQ(role_of(Function::MPI_File_get_size), CallRole::local);
  EXPECT_EQ(role_of(Function::MPI_Rput), CallRole::local);
  EXPECT_EQ(role_of(Function::MPI_Info_create), CallRole::local);
  EXPECT_EQ(role_of(Function::none), CallRole::unknown);
}

}  // namespace
}  // namespace tare::reader

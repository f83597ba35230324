#include "reader/waits/wait_states.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <tuple>

#include "reader/testing/waiting_run.h"
#include "reader/waits/wait_report.h"

namespace tare::reader {
namespace {

using namespace synthetic;
using format::any_source;
using format::no_bytes;
using format::no_peer;
using format::no_tag;

using WaitStatesTest = WaitingRun;

TEST_F(WaitStatesTest, LateSender) {
  ranks[0].compute(500);
  ranks[0].at(1);
  ranks[0].call("MPI_Send", 10, 1, 3);
  ranks[1].compute(100);
  ranks[1].at(2);
  ranks[1].call("MPI_Recv", 420, 0, 3);
  find();
  EXPECT_EQ(lines(), Lines{"1 in 2: late sender 400 of 0 in 1, 400 before 1"});
  EXPECT_EQ(waits[0].call.enter_ns - waits[0].cause.enter_ns, -400);
}

TEST_F(WaitStatesTest, TimeWithoutAProcessorIsACauseOfItsOwn) {
  ranks[0].compute(100);
  ranks[0].loses_processor(200, 0);
  ranks[0].compute(50);
  ranks[0].loses_processor(0, 150);
  ranks[0].at(1);
  ranks[0].call("MPI_Send", 10, 1, 3);
  ranks[1].compute(100);
  ranks[1].at(2);
  ranks[1].call("MPI_Recv", 420, 0, 3);
  find();
  EXPECT_EQ(lines(), Lines{"1 in 2: late sender 400 of 0 in 1, 400 descheduled before 1"});
  EXPECT_EQ(roots(waits[0]), (Lines{"0 descheduled before 1: 40 %", "0 blocked before 1: 30 %", "0 before 1: 30 %"}));
  const auto report = wait_report(*run);
  ASSERT_TRUE(report) << report.error();
  const auto of_sender = std::find_if(report->outside.begin(), report->outside.end(),
                                      [](const OutsideSum& of) { return of.rank == 0 && of.site == 0; });
  ASSERT_NE(of_sender, report->outside.end());
  EXPECT_EQ(of_sender->time_ns, 500);
  EXPECT_EQ(of_sender->descheduled_ns, 200);
  EXPECT_EQ(of_sender->blocked_ns, 150);
}

TEST_F(WaitStatesTest, WhatTheTraceDoesNotHaveIsNoTimeOutsideMpi) {
  for (Script& rank : ranks) {
    rank.is_overwritten(100'000);
    rank.at(1);
  }
  ranks[0].call("MPI_Barrier", 410);
  ranks[1].compute(400);
  ranks[1].call("MPI_Barrier", 10);
  for (Script& rank : ranks) {
    rank.compute(300);
    rank.is_left_out(50'000, 1);
    rank.compute(20);
    rank.at(2);
    rank.call("MPI_Barrier", 10);
  }
  ASSERT_NO_FATAL_FAILURE(open());
  const auto report = wait_report(*run);
  ASSERT_TRUE(report) << report.error();
  std::vector<std::tuple<std::int32_t, std::int32_t, std::int64_t>> outside;
  for (const OutsideSum& of : report->outside)
    if (of.time_ns != 0) outside.emplace_back(of.site + 1, of.rank, of.time_ns);
  std::sort(outside.begin(), outside.end());
  EXPECT_EQ(outside, (decltype(outside){{2, 0, 20}, {2, 1, 20}}));
}

TEST_F(WaitStatesTest, ACallThatIsLeftLateForWantOfAProcessor) {
  for (Script& rank : ranks) rank.at(1);
  ranks[0].call("MPI_Barrier", 900'000);
  ranks[0].was_descheduled(800'000);
  ranks[1].compute(500'000);
  ranks[1].call("MPI_Barrier", 100);
  ranks[0].call("MPI_Send", 10, 1, 3);
  ranks[1].at(2);
  ranks[1].call("MPI_Recv", 500'000, 0, 3);
  find();
  EXPECT_EQ(lines(), (Lines{"0 in 1: wait at barrier 500000 of 1 in 1, 500000 before 1",
                            "1 in 2: late sender 399900 of 0 in 1, 399900 descheduled in 1"}));
  EXPECT_EQ(roots(waits[1]), Lines{"0 descheduled in 1: 100 %"}) << "it was late for the same reason";
  const auto report = wait_report(*run);
  ASSERT_TRUE(report) << report.error();
  std::int64_t in_calls_ns = 0;
  for (const OutsideSum& of : report->outside)
    if (of.rank == 0) in_calls_ns += of.descheduled_in_calls_ns;
  EXPECT_EQ(in_calls_ns, 400'000) << "the rest is a wait for rank 1, whether with a processor or without";
}

TEST_F(WaitStatesTest, WhatIsNotFollowedDidNotWaitForAProcessorAlone) {
  // A rank that polls for its neighbours in a call has no processor either, if there are too few.
  for (const char* function : {"MPI_Neighbor_alltoall", "MPI_Send"}) {
    ranks.assign(2, {});
    for (Script& rank : ranks) {
      rank.at(1);
      rank.call(function, 900'000, rank.now() == 0 ? 1 : 0, 3);
      rank.was_descheduled(800'000);
    }
    find();
    const auto report = wait_report(*run);
    ASSERT_TRUE(report) << report.error();
    std::int64_t in_calls_ns = 0;
    for (const OutsideSum& of : report->outside) in_calls_ns += of.descheduled_in_calls_ns;
    EXPECT_EQ(in_calls_ns > 0, function == std::string_view("MPI_Send")) << function;
  }
}

// Rank 1 polls for a message that comes after 5 ms; between two of its many polls, it does `between`.
struct PolledWaitsTest : WaitStatesTest {
  std::int64_t wait_ns(const std::function<void(Script&)>& between) {
    ranks.assign(2, {});
    waits.clear();
    ranks[0].compute(5'000'000);
    ranks[0].call("MPI_Send", 10, 1, 3);
    ranks[1].at(2);
    ranks[1].call("MPI_Irecv", 10, 0, 3, 5);
    const auto poll = [&] { ranks[1].call("MPI_Test", 100); };
    for (unsigned i = 0; i < 200; ++i) poll();
    between(ranks[1]);
    while (ranks[1].now() < Script::init_leave + 5'000'100) poll();
    ranks[1].completes(5, 0, 3);
    find();
    return waits.size() == 1 ? waits[0].wait_ns : -1;
  }
  static constexpr std::int64_t whole_ns = 4'999'990, behind_gap_ns = 2'979'990;
};

TEST_F(PolledWaitsTest, WithoutAProcessorInBetweenAreOneWait) {
  EXPECT_EQ(wait_ns([](Script& rank) { rank.loses_processor(2'000'000, 0); }), whole_ns);
  EXPECT_EQ(wait_ns([](Script& rank) { rank.compute(1'900'000), rank.loses_processor(100'000, 0); }), behind_gap_ns);
}

// A write takes longer than the time after which a thread is looked at, and the thread has its processor.
TEST_F(PolledWaitsTest, BetweenWhichTheBufferIsWrittenAreOneWait) {
  const auto behind = [&](void (Script::*gap)(std::uint64_t)) {
    return wait_ns([&](Script& rank) { rank.loses_processor(0, 0), (rank.*gap)(2'000'000); });
  };
  EXPECT_EQ(behind(&Script::flushes), whole_ns);
  EXPECT_EQ(behind(&Script::compute), behind_gap_ns);
}

TEST_F(WaitStatesTest, WhatIsBeforeAGapIsNoPartOfAWaitBehindIt) {
  ranks[1].at(2);
  ranks[1].call("MPI_Probe", 50, 0, 3);  // of a message that is received in the gap
  for (int i = 0; i < 9; ++i) ranks[1].call("MPI_Iprobe", 50);
  ranks[0].compute(500);
  for (Script& rank : ranks) rank.is_left_out(50'000, 1);
  ranks[0].compute(500);
  ranks[0].at(1);
  ranks[0].call("MPI_Send", 10, 1, 3);
  ranks[1].at(3);
  ranks[1].call("MPI_Recv", 510, 0, 3);
  ranks[1].at(4);
  ranks[1].call("MPI_Iprobe", 5);
  for (Script& rank : ranks) rank.is_left_out(50'000, 2);
  for (int i = 0; i < 10; ++i) ranks[1].call("MPI_Iprobe", 50);
  ranks[1].call("MPI_Iprobe", 10, 0, 3);
  ranks[1].call("MPI_Recv", 10, 0, 3);
  ranks[0].compute(505);
  ranks[0].call("MPI_Send", 10, 1, 3);
  find();
  EXPECT_EQ(lines(), (Lines{"1 in 3: late sender 500 of 0 in 1, 500 before 1",
                            "1 in 4: late sender 500 of 0 in 1, 500 before 1"}));
}

TEST_F(WaitStatesTest, NobodyWaitsWhoComesLater) {
  ranks[0].call("MPI_Send", 10, 1, 3);
  ranks[1].compute(100);
  ranks[1].call("MPI_Recv", 20, 0, 3);
  find();
  EXPECT_EQ(lines(), Lines{});
}

TEST_F(WaitStatesTest, TheLastOfSeveralSendersIsWaitedFor) {
  ranks.resize(3);
  for (const std::size_t r : {std::size_t{0}, std::size_t{1}}) {
    ranks[r].compute(r == 0 ? 500 : 300);
    ranks[r].at(1);
    ranks[r].call("MPI_Isend", 10, 2, 3, 5);
    ranks[r].call("MPI_Wait", 1000);
    ranks[r].completes(5);
  }
  ranks[2].call("MPI_Irecv", 10, 0, 3, 5);
  ranks[2].call("MPI_Irecv", 10, 1, 3, 6);
  ranks[2].at(2);
  ranks[2].call("MPI_Waitall", 500);
  ranks[2].completes(5, 0, 3);
  ranks[2].completes(6, 1, 3);
  find();
  EXPECT_EQ(lines(), Lines{"2 in 2: late sender 480 of 0 in 1, 480 before 1"});
}

TEST_F(WaitStatesTest, LateReceiverOfASendThatWaits) {
  ranks[0].at(1);
  ranks[0].call("MPI_Send", 310, 1, 3);
  ranks[1].compute(300);
  ranks[1].at(2);
  ranks[1].call("MPI_Recv", 20, 0, 3);
  find();
  EXPECT_EQ(lines(), Lines{"0 in 1: late receiver 300 of 1 in 2, 300 before 2"});
}

TEST_F(WaitStatesTest, ASendThatDoesNotWaitHasNoLateReceiver) {
  ranks[0].call("MPI_Send", 10, 1, 3);
  ranks[1].compute(300);
  ranks[1].call("MPI_Recv", 20, 0, 3);
  find();
  EXPECT_EQ(lines(), Lines{});
}

TEST_F(WaitStatesTest, CollectivesWaitAsTheyHaveTo) {
  struct Case {
    const char* function;
    std::int32_t root;
    Lines expected;  // for ranks that enter it at 100, 200 and 300
  };
  const std::vector<Case> cases = {
      {"MPI_Barrier",
       no_peer,
       {"0 in 1: wait at barrier 200 of 2 in 1, 200 before 1", "1 in 1: wait at barrier 100 of 2 in 1, 100 before 1"}},
      {"MPI_Allreduce",
       no_peer,
       {"0 in 1: wait at NxN 200 of 2 in 1, 200 before 1", "1 in 1: wait at NxN 100 of 2 in 1, 100 before 1"}},
      {"MPI_Bcast", 1, {"0 in 1: late broadcast 100 of 1 in 1, 100 before 1"}},
      {"MPI_Bcast", 0, {}},
      {"MPI_Reduce", 1, {"1 in 1: early reduce 100 of 2 in 1, 100 before 1"}},
      {"MPI_Gather", 2, {}},
      {"MPI_Scan", no_peer, {}}};
  for (const Case& of : cases) {
    waits.clear();
    ranks.assign(3, Script());
    for (std::uint64_t i = 0; i < 3; ++i) {
      ranks[i].compute(100 * (i + 1));
      ranks[i].call(of.function, 400 - 100 * i, of.root);
    }
    find();
    Lines found = lines();
    std::sort(found.begin(), found.end());
    EXPECT_EQ(found, of.expected) << of.function;
  }
}

// What a rank did before it met the other one in a collective with a root is not the cause of a later wait.
TEST_F(WaitStatesTest, RanksMeetInCollectivesWithARoot) {
  const auto meet = [this](std::uint32_t site, std::int32_t late, std::uint64_t longer) {
    for (std::int32_t rank = 0; rank < 2; ++rank) {
      Script& of = ranks[static_cast<std::size_t>(rank)];
      of.compute(rank == late ? 100 + longer : 100);
      of.at(site);
      of.call("MPI_Bcast", rank == late ? 10 : 10 + longer, late);
    }
  };
  meet(1, 1, 1000);
  meet(2, 0, 150);
  meet(3, 1, 200);
  find();
  EXPECT_EQ(lines(), (Lines{"0 in 1: late broadcast 1000 of 1 in 1, 1000 before 1",
                            "1 in 2: late broadcast 150 of 0 in 2, 150 before 2",
                            "0 in 3: late broadcast 200 of 1 in 3, 200 before 3"}));
  ASSERT_EQ(waits.size(), 3U);
  EXPECT_EQ(roots(waits[2]), Lines{"1 before 3: 100 %"});
}

TEST_F(WaitStatesTest, AScanWaitsForThoseBelow) {
  ranks[0].compute(300);
  ranks[0].call("MPI_Scan", 50);
  ranks[1].compute(100);
  ranks[1].call("MPI_Scan", 250);
  find();
  EXPECT_EQ(lines(), Lines{"1 in 1: early scan 200 of 0 in 1, 200 before 1"});
}

TEST_F(WaitStatesTest, NonblockingCollectivesWaitWhereTheyComplete) {
  ranks[0].call("MPI_Iallreduce", 10, no_peer, no_tag, 5);
  ranks[0].compute(90);
  ranks[0].at(2);
  ranks[0].call("MPI_Wait", 250);
  ranks[0].completes(5);
  ranks[1].compute(300);
  ranks[1].call("MPI_Iallreduce", 10, no_peer, no_tag, 5);
  ranks[1].call("MPI_Wait", 40);
  ranks[1].completes(5);
  find();
  // Rank 0 itself computed for 90 before line 2, where rank 1 spent no time.
  EXPECT_EQ(lines(), Lines{"0 in 2: wait at NxN 200 of 1 in 1, 200 before 1"});
}

TEST_F(WaitStatesTest, PollsThatFollowOneAnotherAreOneWait) {
  ranks[0].compute(500);
  ranks[0].at(1);
  ranks[0].call("MPI_Send", 10, 1, 3);
  ranks[1].call("MPI_Irecv", 10, 0, 3, 5);
  ranks[1].at(2);
  for (int i = 0; i < 10; ++i) ranks[1].call("MPI_Test", 50);
  ranks[1].call("MPI_Test", 50);
  ranks[1].completes(5, 0, 3);
  find();
  EXPECT_EQ(lines(), Lines{"1 in 2: late sender 490 of 0 in 1, 490 before 1"});
}

TEST_F(WaitStatesTest, PollsThatAreMoreThanAMicrosecondApartAreSeveralWaits) {
  for (const std::uint64_t between : {1000U, 1001U}) {
    waits.clear();
    ranks.assign(2, Script());
    ranks[0].compute(80 + between);
    ranks[0].at(1);
    ranks[0].call("MPI_Send", 10, 1, 3);
    ranks[1].call("MPI_Irecv", 10, 0, 3, 5);
    ranks[1].at(2);
    ranks[1].call("MPI_Test", 50);
    ranks[1].compute(between);
    ranks[1].call("MPI_Test", 50);
    ranks[1].completes(5, 0, 3);
    find();
    ASSERT_EQ(waits.size(), 1U);
    EXPECT_EQ(waits[0].wait_ns, between == 1000 ? 1070 : 20);
  }
}

TEST_F(WaitStatesTest, PollsOfTwoLinesAreTwoWaits) {
  ranks[0].compute(80);
  ranks[0].call("MPI_Send", 10, 1, 3);
  ranks[1].call("MPI_Irecv", 10, 0, 3, 5);
  ranks[1].at(2);
  ranks[1].call("MPI_Test", 50);
  ranks[1].at(3);
  ranks[1].call("MPI_Test", 50);
  ranks[1].completes(5, 0, 3);
  find();
  EXPECT_EQ(lines(), Lines{"1 in 3: late sender 20 of 0 in 1, 20 before 1"});
}

// Rank 1 sends to rank 2, which posts its receive late, and receives from rank 0, which sends late.
TEST_F(WaitStatesTest, ACallThatAlsoReceivesWaitsForAReceiverIfThatIsClearlyLonger) {
  struct Case {
    std::uint64_t send_ns, receive_ns;
    const char* expected;
  };
  for (const Case& of : {Case{900, 980, "1 in 2: late sender 900 of 0 in 1, 900 before 1"},
                         Case{900, 1000, "1 in 2: late receiver 1000 of 2 in 3, 1000 before 3"},
                         Case{900, 500, "1 in 2: late sender 900 of 0 in 1, 900 before 1"}}) {
    waits.clear();
    ranks.assign(3, Script());
    ranks[0].compute(of.send_ns);
    ranks[0].at(1);
    ranks[0].call("MPI_Send", 10, 1, 3);
    ranks[1].at(2);
    ranks[1].exchange("MPI_Sendrecv", 1100, 2, 4, 0, 3);
    ranks[2].compute(of.receive_ns);
    ranks[2].at(3);
    ranks[2].call("MPI_Recv", 200, 1, 4);
    find();
    Lines found = lines();
    // Rank 2 comes later than rank 1, and so does not wait.
    EXPECT_EQ(found, Lines{of.expected});
  }
}

TEST_F(WaitStatesTest, AProbeForAnotherMessageWaitsForThat) {
  ranks[0].compute(300);
  ranks[0].call("MPI_Send", 10, 1, 4);
  ranks[0].compute(90);
  ranks[0].call("MPI_Send", 10, 1, 3);
  ranks[1].at(2);
  ranks[1].call("MPI_Probe", 410, 0, 3);
  ranks[1].at(3);
  ranks[1].call("MPI_Recv", 10, 0, 4);
  ranks[1].at(4);
  ranks[1].call("MPI_Recv", 10, 0, 3);
  find();
  EXPECT_EQ(lines(), Lines{"1 in 2: late sender 400 of 0 in 1, 400 before 1"});
}

TEST_F(WaitStatesTest, AProbeWaitsForTheMessageThatIsReceivedThen) {
  ranks[0].compute(500);
  ranks[0].call("MPI_Send", 10, 1, 3);
  ranks[0].compute(500);
  ranks[0].call("MPI_Send", 10, 1, 3);
  ranks[1].at(2);
  ranks[1].call("MPI_Probe", 510, 0, 3);
  ranks[1].at(3);
  ranks[1].call("MPI_Recv", 10, 0, 3);
  ranks[1].at(4);
  ranks[1].call("MPI_Mprobe", 600, 0, 3);
  ranks[1].at(5);
  ranks[1].call("MPI_Mrecv", 10, 0, 3);
  find();
  EXPECT_EQ(lines(), (Lines{"1 in 2: late sender 500 of 0 in 1, 500 before 1",
                            "1 in 4: late sender 490 of 0 in 1, 490 before 1"}));
}

TEST_F(WaitStatesTest, WhoPollsForAMessageWaitsForIt) {
  for (int i = 0; i < 2; ++i) {
    ranks[0].compute(500);
    ranks[0].call("MPI_Send", 10, 1, 3);
  }
  for (const auto& [probe, receive, line] :
       {std::tuple("MPI_Iprobe", "MPI_Recv", 2U), std::tuple("MPI_Improbe", "MPI_Mrecv", 4U)}) {
    ranks[1].at(line);
    for (int i = 0; i < 10; ++i) ranks[1].call(probe, 50);
    ranks[1].call(probe, 10, 0, 3);
    ranks[1].at(line + 1);
    ranks[1].call(receive, 10, 0, 3);
  }
  find();
  EXPECT_EQ(lines(), (Lines{"1 in 2: late sender 500 of 0 in 1, 500 before 1",
                            "1 in 4: late sender 490 of 0 in 1, 490 before 1"}));
}

TEST_F(WaitStatesTest, WhatTheCauseDidLongerIsTheDelay) {
  // After a barrier, rank 0 computes for 300 before line 2, and rank 1 for 100. Rank 0 also computes for 200 before
  // line 3, which rank 1 does not call. Rank 1 waits for 400 of this.
  for (Script& rank : ranks) {
    rank.at(1);
    rank.call("MPI_Barrier", 10);
    rank.at(2);
  }
  ranks[0].compute(300);
  ranks[0].call("MPI_Iprobe", 10, any_source, 9);
  ranks[0].compute(200);
  ranks[0].at(3);
  ranks[0].call("MPI_Send", 10, 1, 3);
  ranks[1].compute(100);
  ranks[1].call("MPI_Iprobe", 10, any_source, 9);
  ranks[1].at(4);
  ranks[1].call("MPI_Recv", 420, 0, 3);
  find();
  EXPECT_EQ(lines(), Lines{"1 in 4: late sender 400 of 0 in 3, 400 before 2"});
  EXPECT_EQ(roots(waits[0]), (Lines{"0 before 2: 50 %", "0 before 3: 50 %"}));
}

TEST_F(WaitStatesTest, WaitsArePassedOn) {
  // Rank 0 is late, and rank 1 waits for it. So rank 2 waits for rank 1, although rank 1 has no longer activity of its
  // own.
  ranks.resize(3);
  ranks[0].compute(500);
  ranks[0].at(1);
  ranks[0].call("MPI_Send", 10, 1, 3);
  ranks[1].at(2);
  ranks[1].call("MPI_Recv", 505, 0, 3);
  ranks[1].at(3);
  ranks[1].call("MPI_Send", 10, 2, 3);
  ranks[2].at(4);
  ranks[2].call("MPI_Recv", 520, 1, 3);
  find();
  ASSERT_EQ(waits.size(), 2U);
  EXPECT_EQ(waits[0].delay_ns, 500);
  EXPECT_EQ(waits[1].wait_ns, 505);
  EXPECT_EQ(waits[1].passed_on_ns, 500);
  EXPECT_EQ(waits[1].delay_ns, 5);  // the transfer, inside the receive of rank 1
  EXPECT_EQ(place(waits[1].delay), "in 2");
  EXPECT_EQ(roots(waits[1]), (Lines{"0 before 1: 99 %", "1 in 2: 1 %"}));
}

TEST_F(WaitStatesTest, TheDelayIsSinceTheTwoLastMet) {
  // The long activity of rank 0 before the first message does not count.
  ranks[0].compute(5000);
  for (int i = 0; i < 2; ++i) {
    ranks[0].at(1 + static_cast<std::uint32_t>(i));
    ranks[0].call("MPI_Send", 10, 1, 3);
    ranks[0].compute(100);
  }
  ranks[1].at(3);
  ranks[1].call("MPI_Recv", 5010, 0, 3);
  ranks[1].at(4);
  ranks[1].call("MPI_Recv", 110, 0, 3);
  find();
  EXPECT_EQ(lines(), (Lines{"1 in 3: late sender 5000 of 0 in 1, 5000 before 1",
                            "1 in 4: late sender 100 of 0 in 2, 100 before 2"}));
}

TEST_F(WaitStatesTest, ASendThatIsKnownToBeEagerDoesNotWait) {
  // The second send takes long for another reason: the first one, as large, has ended before its receive.
  for (const std::uint64_t bytes : {8U, 9U}) {
    waits.clear();
    ranks.assign(2, Script());
    ranks[0].at(1);
    ranks[0].call("MPI_Send", 10, 1, 3, format::no_request, 1, 8);
    ranks[0].call("MPI_Send", 400, 1, 3, format::no_request, 1, bytes);
    ranks[1].compute(200);
    ranks[1].at(2);
    ranks[1].call("MPI_Recv", 20, 0, 3);
    ranks[1].call("MPI_Recv", 20, 0, 3);
    find();
    EXPECT_EQ(lines(), bytes == 8 ? Lines{} : Lines{"0 in 1: late receiver 210 of 1 in 2, 210 before 2"});
    EXPECT_FALSE(eager_misjudged);
  }
}

TEST_F(WaitStatesTest, WhatIsEagerMayShowLater) {
  ranks[0].at(1);
  ranks[0].call("MPI_Send", 400, 1, 3, format::no_request, 1, 8);
  ranks[0].call("MPI_Send", 10, 1, 3, format::no_request, 1, 8);
  ranks[1].compute(200);
  ranks[1].at(2);
  ranks[1].call("MPI_Recv", 250, 0, 3);
  ranks[1].compute(200);
  ranks[1].call("MPI_Recv", 20, 0, 3);
  find();
  EXPECT_EQ(lines().size(), 1U);
  EXPECT_TRUE(eager_misjudged);
  const auto report = wait_report(*run);
  ASSERT_TRUE(report) << report.error();
  EXPECT_TRUE(report->waits.empty());
}

// Only the last 1024 calls of a thread are known. Rank 0 computes while rank 1 makes more of them; then rank 1 computes
// for as long.
TEST_F(WaitStatesTest, WhatBothDoIsNoDelayAlsoIfItWasBeforeWhatIsKnown) {
  ranks[0].compute(5000);
  ranks[0].at(1);
  ranks[0].call("MPI_Recv", 1020, 1, 3);
  ranks[1].at(2);
  for (unsigned i = 0; i < 5000; ++i) ranks[1].call("MPI_Send", 1, format::proc_null, 9);
  ranks[1].at(4);
  ranks[1].compute(1000);
  ranks[1].call("MPI_Send", 10, 0, 3);
  find();
  ASSERT_EQ(waits.size(), 1U);
  for (const RootCause& root : waits[0].roots) EXPECT_TRUE(root.activity.in_call) << place(root.activity);
}

TEST_F(WaitStatesTest, ATimeThatBothSpendIsNoDelay) {
  // Rank 0 computes for 100 before line 1, rank 1 for 100 before line 2. Then rank 0 needs 40 for a call.
  ranks[0].compute(100);
  ranks[0].at(1);
  ranks[0].call("MPI_Iprobe", 40, any_source, 9);
  ranks[0].at(3);
  ranks[0].call("MPI_Send", 10, 1, 3);
  ranks[1].compute(100);
  ranks[1].at(2);
  ranks[1].call("MPI_Recv", 60, 0, 3);
  find();
  EXPECT_EQ(lines(), Lines{"1 in 2: late sender 40 of 0 in 3, 40 in 1"});
}

TEST_F(WaitStatesTest, InFinalizeAllWaitForTheLast) {
  for (Script& rank : ranks) rank.at(1);
  ranks[0].compute(100);
  ranks[0].call("MPI_Finalize", 350);
  ranks[1].compute(400);
  ranks[1].call("MPI_Finalize", 50);
  find();
  EXPECT_EQ(lines(), Lines{"0 in 1: wait at barrier 300 of 1 in 1, 300 before 1"});
}

TEST_F(WaitStatesTest, AMessageThatIsThereMayBeReceivedInTheWrongOrder) {
  // Rank 2 waits for rank 0, and then works for 100 on its message, while that of rank 1 lies there.
  ranks.resize(3);
  ranks[0].compute(500);
  ranks[0].call("MPI_Send", 10, 2, 3);
  ranks[1].compute(200);
  ranks[1].call("MPI_Send", 10, 2, 3);
  ranks[2].at(2);
  ranks[2].call("MPI_Recv", 510, 0, 3);
  ranks[2].compute(100);
  ranks[2].call("MPI_Recv", 10, 1, 3);
  ranks[2].compute(100);
  find();
  ASSERT_EQ(wrong_order.size(), 1U);
  EXPECT_EQ(wrong_order[0].rank, 2);
  EXPECT_EQ(wrong_order[0].site + 1, 2);
  EXPECT_EQ(wrong_order[0].time_ns, 110);  // from the end of the wait, 10 before its call ended
}

TEST_F(WaitStatesTest, ClocksThatDisagreeAreFound) {
  ranks[0].compute(500);
  ranks[0].call("MPI_Send", 10, 1, 3);
  ranks[0].call("MPI_Send", 10, 1, 3);
  ranks[1].call("MPI_Recv", 10, 0, 3);
  ranks[1].compute(490);
  ranks[1].call("MPI_Recv", 50, 0, 3);
  find();
  ASSERT_EQ(violations.size(), 1U);
  EXPECT_EQ(violations[0].source, 0);
  EXPECT_EQ(violations[0].destination, 1);
  EXPECT_EQ(violations[0].messages, 1U);
  EXPECT_EQ(violations[0].most_ns, 490);
}

// Rank 0 has sent 20 messages when rank 1 takes the last one first. Each receive takes 10, or 100 while more than eight
// lie there.
TEST_F(WaitStatesTest, UnexpectedMessagesCostTimeWhereReceivesTakeLonger) {
  for (const bool is_slow : {true, false}) {
    ranks.assign(2, Script());
    for (std::int32_t tag = 0; tag < 20; ++tag) ranks[0].call("MPI_Send", 10, 1, tag, format::no_request, 1, 8);
    ranks[1].compute(1000);
    ranks[1].at(2);
    for (std::int32_t tag = 19; tag >= 0; --tag) ranks[1].call("MPI_Recv", is_slow && tag > 7 ? 100 : 10, 0, tag);
    // One that is posted in time.
    ranks[1].call("MPI_Recv", 4000, 0, 99);
    ranks[0].compute(5000);
    ranks[0].call("MPI_Send", 10, 1, 99, format::no_request, 1, 8);
    find();
    ASSERT_EQ(unexpected.size(), 1U);
    const UnexpectedSum& of = unexpected[0];
    EXPECT_EQ(std::tuple(of.rank, of.source, of.site + 1), std::tuple(1, 0, 2));
    EXPECT_EQ(std::tuple(of.messages, of.bytes, of.longest_queue), std::tuple(20U, 160U, 20U));
    EXPECT_EQ(of.slow, is_slow ? 12U : 0U);
    EXPECT_EQ(of.time_ns, is_slow ? 12 * 90 : 0);
  }
}

TEST_F(WaitStatesTest, AReceiveThatWasPostedWhileTheSendWaitedIsNotUnexpected) {
  ranks[0].call("MPI_Ssend", 310, 1, 3);
  ranks[1].compute(300);
  ranks[1].call("MPI_Recv", 20, 0, 3);
  find();
  EXPECT_TRUE(unexpected.empty());
}

}  // namespace
}  // namespace tare::reader

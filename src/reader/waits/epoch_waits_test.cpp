#include "reader/testing/waiting_run.h"

namespace tare::reader {
namespace {

using namespace synthetic;
using EpochWaitsTest = WaitingRun;

TEST_F(EpochWaitsTest, OriginsWaitForAPostInTheCallThatIsUnderWay) {
  struct Case {
    std::uint64_t start, put, complete;  // their times
    Lines expected;
  };
  const std::vector<Case> cases = {{310, 10, 10, {"0 in 1: late post 300 of 1 in 2, 300 before 2"}},
                                   {10, 305, 10, {"0 in 1: late post 290 of 1 in 2, 290 before 2"}},
                                   {10, 10, 290, {"0 in 1: late post 280 of 1 in 2, 280 before 2"}},
                                   {10, 10, 280, {}}};
  for (const Case& of : cases) {
    waits.clear();
    ranks.assign(2, Script());
    ranks[0].on_group("MPI_Win_start", of.start, 1);
    ranks[0].on_window("MPI_Put", of.put, 1);
    ranks[0].on_window("MPI_Win_complete", of.complete);
    ranks[1].compute(300);
    ranks[1].at(2);
    ranks[1].on_group("MPI_Win_post", 10, 0);
    ranks[1].compute(100);
    ranks[1].on_window("MPI_Win_wait", 10);
    find();
    EXPECT_EQ(lines(), of.expected) << of.start;
  }
}

TEST_F(EpochWaitsTest, APutToAnotherTargetDoesNotWaitForThePost) {
  ranks.resize(3);
  ranks[0].on_group("MPI_Win_start", 10, -1);
  ranks[0].on_window("MPI_Put", 500, 2);
  ranks[1].compute(300);
  ranks[1].on_group("MPI_Win_post", 10, 0);
  find();
  EXPECT_EQ(lines(), Lines{});
}

TEST_F(EpochWaitsTest, TargetsWaitForTheLastOrigin) {
  ranks.resize(3);
  ranks[0].on_group("MPI_Win_post", 10, -1);
  ranks[0].on_window("MPI_Win_wait", 500);
  for (const std::size_t r : {std::size_t{1}, std::size_t{2}}) {
    ranks[r].on_group("MPI_Win_start", 10, 0);
    ranks[r].compute(r * 200);
    ranks[r].at(static_cast<std::uint32_t>(r + 1));
    ranks[r].on_window("MPI_Put", 10, 0);
    ranks[r].on_window("MPI_Win_complete", 10);
  }
  find();
  EXPECT_EQ(lines(), Lines{"0 in 1: early wait 410 of 2 in 3, 410 before 3"});
}

TEST_F(EpochWaitsTest, AnEpochMayBeCompletedLongAfterItsLastAccess) {
  for (const char* function : {"MPI_Win_wait", "MPI_Win_test"}) {
    waits.clear();
    ranks.assign(2, Script());
    ranks[0].on_group("MPI_Win_post", 10, 1);
    for (int i = 0; i < 5; ++i) ranks[0].on_window(function, std::string(function) == "MPI_Win_test" ? 100 : 500);
    ranks[1].on_group("MPI_Win_start", 10, 0);
    ranks[1].on_window("MPI_Put", 100, 0);
    ranks[1].compute(300);
    ranks[1].at(2);
    ranks[1].on_window("MPI_Win_complete", 10);
    find();
    EXPECT_EQ(lines(), Lines{"0 in 1: late complete 400 of 1 in 2, 400 before 2"}) << function;
  }
}

TEST_F(EpochWaitsTest, EpochsOfOtherGroupsAndAfterwardsAreNotWaitedFor) {
  ranks.resize(3);
  ranks[0].on_group("MPI_Win_post", 10, 1);
  ranks[0].on_window("MPI_Win_wait", 500);
  ranks[2].on_group("MPI_Win_start", 10, 0);
  ranks[2].compute(200);
  ranks[2].on_window("MPI_Win_complete", 10);
  find();
  EXPECT_EQ(lines(), Lines{});
}

// Rank 1 has the lock from 0 to 300, while rank 0 needs it from 50 on. The target is in MPI.
TEST_F(EpochWaitsTest, LocksThatExcludeOneAnotherAreWaitedFor) {
  using format::exclusive_lock, format::shared_lock;
  struct Case {
    std::int32_t first, second;        // types
    std::vector<std::uint64_t> times;  // of lock, put and unlock
    Lines expected;
  };
  const std::vector<Case> cases = {
      {exclusive_lock, exclusive_lock, {255, 10, 10}, {"0 in 1: lock contention 250 of 1 in 2, 250 before 2"}},
      {exclusive_lock, shared_lock, {10, 245, 10}, {"0 in 1: lock contention 240 of 1 in 2, 240 before 2"}},
      {shared_lock, exclusive_lock, {10, 10, 235}, {"0 in 1: lock contention 230 of 1 in 2, 230 before 2"}},
      {shared_lock, shared_lock, {255, 10, 10}, {}},
      {exclusive_lock, exclusive_lock, {10, 10, 10}, {}}};
  for (const Case& of : cases) {
    waits.clear();
    ranks.assign(3, Script());
    ranks[0].compute(50);
    ranks[0].on_window("MPI_Win_lock", of.times[0], 2, of.second);
    ranks[0].on_window("MPI_Put", of.times[1], 2);
    ranks[0].on_window("MPI_Win_unlock", of.times[2], 2);
    ranks[1].on_window("MPI_Win_lock", 0, 2, of.first);
    ranks[1].compute(300);
    ranks[1].at(2);
    ranks[1].on_window("MPI_Win_unlock", 10, 2);
    ranks[2].call("MPI_Recv", 1000, 0, 3);
    find();
    EXPECT_EQ(lines(), of.expected) << of.times[0];
  }
}

// Rank 1 gets the lock late itself: its own unlock waits for rank 0, and not the other way round.
TEST_F(EpochWaitsTest, WhoeverUnlocksLaterHadToWait) {
  ranks.resize(3);
  ranks[0].on_window("MPI_Win_lock", 10, 2, format::exclusive_lock);
  ranks[0].compute(200);
  ranks[0].on_window("MPI_Put", 20, 2);  // from 210 to 230
  ranks[0].compute(70);
  ranks[0].at(3);
  ranks[0].on_window("MPI_Win_unlock", 10, 2);
  ranks[1].on_window("MPI_Win_lock", 10, 2, format::exclusive_lock);
  ranks[1].compute(210);
  ranks[1].at(2);
  ranks[1].on_window("MPI_Win_unlock", 100, 2);  // from 220 to 320
  ranks[2].call("MPI_Recv", 1000, 0, 3);
  find();
  EXPECT_EQ(lines(), Lines{"1 in 2: lock contention 80 of 0 in 3, 80 before 1"});
}

TEST_F(EpochWaitsTest, AccessesMayNeedATargetThatIsOutsideMpi) {
  for (const bool needs_it : {true, false}) {
    waits.clear();
    ranks.assign(2, Script());
    ranks[0].on_window("MPI_Win_lock_all", 10);
    ranks[0].on_window("MPI_Get", 5, 1);
    ranks[0].on_window("MPI_Win_flush", 295, 1);  // from 15 to 310
    ranks[0].on_window("MPI_Get", 5, 1);
    ranks[0].on_window("MPI_Win_flush", needs_it ? 300 : 10, 1);
    ranks[1].compute(300);
    ranks[1].at(2);
    ranks[1].call("MPI_Barrier", 10);
    ranks[1].compute(290);
    ranks[1].call("MPI_Barrier", 10);
    find();
    EXPECT_EQ(eager_misjudged, !needs_it);
    Lines expected = {"0 in 1: wait for progress 285 of 1 in 2, 285 before 2"};
    if (needs_it) expected.emplace_back("0 in 1: wait for progress 285 of 1 in 2, 285 before 2");
    EXPECT_EQ(lines(), expected);
  }
}

TEST_F(EpochWaitsTest, ATargetThatIsInMpiIsNotWaitedFor) {
  ranks[0].on_window("MPI_Win_lock_all", 10);
  ranks[0].on_window("MPI_Get", 5, 1);
  ranks[0].on_window("MPI_Win_flush", 295, 1);  // from 15 to 310
  ranks[1].call("MPI_Recv", 100, 0, 3);
  ranks[1].compute(200);
  ranks[1].call("MPI_Barrier", 10);
  find();
  EXPECT_EQ(lines(), Lines{});
}

}  // namespace
}  // namespace tare::reader

#include "reader/waits/critical_path.h"

#include <gtest/gtest.h>

#include <cmath>

#include "reader/testing/script.h"
#include "reader/waits/wait_report.h"

namespace tare::reader {
namespace {

using namespace synthetic;

TEST(CriticalPath, GoesOverToWhomWasWaitedFor) {
  // Rank 0 computes for 500 and sends. Rank 1 waits for the message and computes for 300, for which rank 0 waits at the
  // end.
  std::vector<Script> ranks(2);
  ranks[0].compute(500);
  ranks[0].at(1);
  ranks[0].call("MPI_Send", 10, 1, 3);
  ranks[0].compute(50);
  ranks[0].at(2);
  ranks[0].call("MPI_Barrier", 260);
  ranks[1].compute(100);
  ranks[1].at(3);
  ranks[1].call("MPI_Recv", 410, 0, 3);
  ranks[1].compute(300);
  ranks[1].at(4);
  ranks[1].call("MPI_Barrier", 15);
  ranks[1].compute(40);
  const std::string file = run_of(ranks);
  auto run = reader::Run::of_memory(file);
  ASSERT_TRUE(run) << run.error();
  const auto report = wait_report(*run);
  ASSERT_TRUE(report) << report.error();
  std::vector<std::string> lines;
  std::int64_t all = 0;
  for (const PathSum& of : report->critical_path) {
    lines.push_back(std::to_string(of.rank) + (of.activity.in_call ? " in " : " before ") +
                    std::to_string(of.activity.site + 1) + ": " + std::to_string(of.time_ns));
    all += of.time_ns;
  }
  EXPECT_EQ(all, 865);  // from the first that leaves MPI_Init to the last that enters MPI_Finalize
  const std::vector<std::string> expected = {"0 before 1: 500", "1 before 4: 300", "1 before 0: 40", "1 in 4: 15",
                                             "1 in 3: 10"};
  EXPECT_EQ(lines, expected);
  std::vector<std::string> causes;
  for (const RootSum& of : report->causes)
    causes.push_back(std::to_string(std::lround(of.wait_ns)) + " in " + std::to_string(of.site + 1) + " because of " +
                     std::to_string(of.cause_rank) + (of.activity.in_call ? " in " : " before ") +
                     std::to_string(of.activity.site + 1));
  // Rank 1 then computes for 300 and not for 50; it also spends 10 in its receive after the message has come.
  EXPECT_EQ(causes, (std::vector<std::string>{"400 in 3 because of 0 before 1", "250 in 2 because of 1 before 4"}));
}

std::int64_t length_ns(const std::vector<Script>& ranks) {
  const std::string file = run_of(ranks);
  auto run = reader::Run::of_memory(file);
  const auto report = wait_report(*run);
  std::int64_t all = 0;
  for (const PathSum& of : report->critical_path) all += of.time_ns;
  return all;
}

TEST(CriticalPath, BeginsWithWhatAFlightRecorderHasKept) {
  std::vector<Script> ranks(1);
  ranks[0].is_overwritten(100'000);
  ranks[0].call("MPI_Barrier", 10);
  ranks[0].compute(300);
  EXPECT_EQ(length_ns(ranks), 310);
  ranks.resize(2);  // the other one has all
  ranks[1].call("MPI_Barrier", 10);
  EXPECT_EQ(length_ns(ranks), 310);
}

TEST(CriticalPath, HasNoTimeOfAGap) {
  std::vector<Script> ranks(1);
  ranks[0].compute(500);
  ranks[0].call("MPI_Barrier", 10);
  ranks[0].compute(40);  // before a call that is not in the trace
  ranks[0].is_left_out(50'000, 1);
  ranks[0].compute(20);
  ranks[0].call("MPI_Barrier", 10);
  ranks[0].loses();
  EXPECT_EQ(length_ns(ranks), 540);
}

TEST(CriticalPath, OfOneRankIsTheRank) {
  std::vector<Script> ranks(1);
  ranks[0].compute(500);
  ranks[0].call("MPI_Barrier", 10);
  const std::string file = run_of(ranks);
  auto run = reader::Run::of_memory(file);
  ASSERT_TRUE(run) << run.error();
  const auto report = wait_report(*run);
  ASSERT_TRUE(report) << report.error();
  ASSERT_EQ(report->critical_path.size(), 2U);
  EXPECT_EQ(report->critical_path[0].time_ns, 500);
  EXPECT_EQ(report->critical_path[1].time_ns, 10);
  EXPECT_TRUE(report->waits.empty());
}

}  // namespace
}  // namespace tare::reader

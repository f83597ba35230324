#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "reader/structure/iteration_curve.h"
#include "reader/structure/iterations.h"
#include "reader/testing/scripted_run.h"
#include "reader/testing/synthetic.h"
#include "reader/timeline/read_wait_lines.h"

namespace tare::reader {
namespace {

using namespace synthetic;

// Each site is a line. Site 0 of the run is line 1.
class StructureTest : public ScriptedRun {
 protected:
  void find() {
    ASSERT_NO_FATAL_FAILURE(open());
    auto structure = run_structure(*run);
    ASSERT_TRUE(structure) << structure.error();
    found = std::move(*structure);
  }
  // All ranks compute, and then make a call at each of the lines; some ranks compute longer.
  void iterate(std::size_t count, const std::vector<std::uint32_t>& lines, std::uint64_t before = 1000) {
    for (std::size_t i = 0; i < count; ++i)
      for (const std::uint32_t line : lines) call(line, before);
  }
  void call(std::uint32_t line, std::uint64_t before, std::uint64_t in_call = 1000) {
    for (Script& rank : ranks) {
      rank.compute(before);
      rank.at(line);
      rank.call("MPI_Barrier", in_call);
    }
  }
  // In iteration 70, rank 1 computes 8000 longer; rank 0 waits for it in the barrier, which both leave together.
  void iterate_with_a_long_one() {
    iterate(70, {1});
    ranks[0].compute(1000);
    ranks[1].compute(9000);
    for (Script& rank : ranks) rank.at(1);
    ranks[0].call("MPI_Barrier", 9000);
    ranks[1].call("MPI_Barrier", 1000);
    iterate(69, {1});
  }
  std::string names() const {
    std::string all;
    for (const DetectedPhase& phase : found.phases) all += phase_name(phase.kind);
    return all;
  }
  // The loop of rank 0.
  const Loop* loop(std::uint32_t phase) const {
    for (const Loop& each : found.loops)
      if (each.phase == phase && each.rank == 0) return &each;
    return nullptr;
  }
  static int line(const CalledLine& of) { return of.site + 1; }

  RunStructure found;
};

TEST_F(StructureTest, ALoopIsOnePhase) {
  iterate(500, {1, 2, 3});
  find();
  ASSERT_EQ(names(), "A");
  ASSERT_NE(loop(0), nullptr);
  EXPECT_EQ(loop(0)->iterations, 500U);
  EXPECT_EQ(line(loop(0)->line), 1);
  EXPECT_EQ(loop(0)->median_ns, 6000);
  EXPECT_TRUE(loop(0)->slow.empty());
  EXPECT_NEAR(found.phases[0].mpi_share, 0.5, 0.01);
}

// A helper thread of a library reads more often than the rank calls MPI.
TEST_F(StructureTest, TheThreadThatCallsMpiIsTheRank) {
  iterate(500, {1, 2, 3});
  Script helper;
  for (int i = 0; i < 4000; ++i) helper.call("read", 10);
  file = run_of(ranks, {{0, helper}});
  for (std::uint32_t rank = 0; rank < ranks.size(); ++rank) {
    const auto process = process_record(rank, format::ProcessState::exited);
    file += profile_chunk(process, 0, {profile_row("MPI_Barrier", 1, 1500, 1500 * 1000, 0)}) +
            profile_chunk(process, 1, {profile_row("read", 1, 4000, 40'000, 0)});
  }
  run.emplace(std::move(*reader::Run::of_memory(file)));
  auto structure = run_structure(*run);
  ASSERT_TRUE(structure) << structure.error();
  found = std::move(*structure);
  ASSERT_EQ(names(), "A");
  ASSERT_NE(loop(0), nullptr);
  EXPECT_EQ(loop(0)->iterations, 500U);
}

TEST_F(StructureTest, ACurveHasTheTimeTheImbalanceAndTheWaitsOfEachIteration) {
  iterate_with_a_long_one();
  find();
  ASSERT_EQ(found.loops.size(), 2U);
  auto timeline = Timeline::read(*run);
  ASSERT_TRUE(timeline);
  const std::vector<const Loop*> loops = {&found.loops[0], &found.loops[1]};
  EXPECT_FALSE(iteration_curve(*timeline, loops, 1000)[0].waiting_ns.has_value());
  auto waits = read_wait_lines(*run, *timeline);
  ASSERT_TRUE(waits);
  timeline->set_waits(std::move(*waits));
  const auto points = iteration_curve(*timeline, loops, 1000);
  ASSERT_EQ(points.size(), 140U);
  EXPECT_EQ(points[10].longest_ns, 2000);
  EXPECT_EQ(points[10].imbalance_ns, 0);
  EXPECT_EQ(points[10].waiting_ns, 0);
  // An iteration begins with its call: the longer computing is in the one before on rank 1, the wait in the next one.
  EXPECT_EQ(points[69].longest_ns, 10000);
  EXPECT_EQ(points[69].row, 1U);
  EXPECT_EQ(points[69].start_ns, found.loops[1].listed[69].start_ns);
  EXPECT_EQ(points[69].imbalance_ns, 4000);
  EXPECT_EQ(points[70].longest_ns, 10000);
  EXPECT_EQ(points[70].row, 0U);
  EXPECT_EQ(points[70].waiting_ns, 4000);
  // Both are slow because of the same computing.
  for (const Loop* of : loops) {
    ASSERT_EQ(of->slow.size(), 1U);
    EXPECT_EQ(of->slow[0].number, of->rank == 0 ? 70U : 69U);
    EXPECT_EQ(of->slow[0].cause_rank, 1);
    EXPECT_EQ(line(of->slow[0].cause), 1);
    EXPECT_FALSE(of->slow[0].is_in_call);
    EXPECT_NEAR(of->slow[0].cause_ns, 8000, 100);
  }
  // Each of fewer points is the longest of its iterations.
  const auto few = iteration_curve(*timeline, loops, 14);
  ASSERT_EQ(few.size(), 14U);
  EXPECT_EQ(few[6].number, 69U);
  EXPECT_EQ(few[7].number, 70U);
}

// As with --keep: the first 20 iterations of rank 0 are not in the trace. Then rank 1 computes longer in one.
TEST_F(StructureTest, WhereTheTraceHasGapsIterationsCorrespondByTime) {
  for (int i = 0; i < 20; ++i) {
    ranks[1].compute(1000);
    ranks[1].at(1);
    ranks[1].call("MPI_Barrier", 1000);
  }
  ranks[0].is_left_out(40000, 1);
  iterate_with_a_long_one();
  find();
  ASSERT_EQ(found.loops.size(), 2U);
  ASSERT_EQ(found.loops[0].iterations, 140U);
  ASSERT_EQ(found.loops[1].iterations, 160U);
  for (const Loop& of : found.loops) {
    EXPECT_TRUE(of.has_gaps);
    ASSERT_EQ(of.slow.size(), 1U);
    EXPECT_EQ(of.slow[0].number, of.rank == 0 ? 70U : 89U);
    EXPECT_EQ(of.slow[0].cause_rank, 1);
    EXPECT_FALSE(of.slow[0].is_in_call);
  }
  auto timeline = Timeline::read(*run);
  ASSERT_TRUE(timeline);
  const auto points = iteration_curve(*timeline, {&found.loops[0], &found.loops[1]}, 1000);
  ASSERT_EQ(points.size(), 160U);
  EXPECT_EQ(points[10].imbalance_ns, 0) << "of rank 1 alone";
  EXPECT_EQ(points[70].longest_ns, 2000);
  EXPECT_EQ(points[70].imbalance_ns, 0);
  EXPECT_EQ(points[89].longest_ns, 10000);
  // Most of the time of this one of rank 1, and all of the next one, rank 0 is in its long one.
  EXPECT_EQ(points[89].imbalance_ns, 4000);
  EXPECT_EQ(points[90].longest_ns, 10000);
  EXPECT_EQ(points[90].row, 0U);
}

TEST_F(StructureTest, PhasesThatReturnHaveOneName) {
  iterate(20, {4, 5, 6}, 3000);
  const std::uint64_t first = ranks[0].now();
  iterate(400, {1, 2});
  const std::uint64_t second = ranks[0].now();
  iterate(40, {7}, 10000);
  iterate(400, {1, 2});
  find();
  ASSERT_EQ(names(), "ABCB");
  const auto length = [&](std::size_t i) { return found.phases[i].end_ns - found.phases[i].start_ns; };
  EXPECT_NEAR(static_cast<double>(length(1)), static_cast<double>(second - first), 12000);
  EXPECT_EQ(found.phases[1].end_ns, found.phases[2].start_ns);
  ASSERT_NE(loop(1), nullptr);
  ASSERT_NE(loop(2), nullptr);
  ASSERT_NE(loop(3), nullptr);
  EXPECT_EQ(loop(1)->iterations, 400U);
  EXPECT_EQ(loop(2)->iterations, 40U);
  EXPECT_EQ(line(loop(2)->line), 7);
  EXPECT_EQ(loop(3)->iterations, 400U);
}

TEST_F(StructureTest, IterationsAreThoseOfTheOutermostLoop) {
  for (int i = 0; i < 12; ++i) {
    call(1, 50000);
    iterate(100, {2, 3});
    call(4, 100);
    iterate(100, {5});
  }
  find();
  ASSERT_EQ(names(), "A");
  ASSERT_NE(loop(0), nullptr);
  EXPECT_EQ(loop(0)->iterations, 12U);
  EXPECT_EQ(line(loop(0)->line), 1);
  EXPECT_EQ(found.loops.size(), 2U) << "one for each rank";
}

TEST_F(StructureTest, ASlowIterationIsNoPhaseAndHasItsCause) {
  iterate(100, {1, 2});
  call(1, 1000);
  ranks[0].compute(20000);
  ranks[0].loses_processor(50000, 130000);
  ranks[1].compute(1000);
  for (std::size_t r = 0; r < 2; ++r) {
    ranks[r].at(2);
    ranks[r].call("MPI_Barrier", r == 0 ? 1000 : 200000);
  }
  iterate(100, {1, 2});
  find();
  ASSERT_EQ(names(), "A");
  ASSERT_EQ(found.loops.size(), 2U);
  for (const Loop& each : found.loops) {
    EXPECT_EQ(each.iterations, 201U);
    ASSERT_EQ(each.slow.size(), 1U);
    const SlowIteration& slow = each.slow[0];
    EXPECT_EQ(slow.number, 100U);
    EXPECT_EQ(slow.iteration.duration_ns, 203000);
    EXPECT_EQ(slow.cause_rank, 0) << "rank 1 waits for it";
    EXPECT_EQ(line(slow.cause), 2);
    EXPECT_FALSE(slow.is_in_call);
    EXPECT_NEAR(static_cast<double>(slow.cause_ns), 199000, 10);
    EXPECT_EQ(slow.cause_off.descheduled_ns, 50000);
    EXPECT_EQ(slow.cause_off.blocked_ns, 130000);
    EXPECT_EQ(slow.iteration.mpi_ns, each.rank == 0 ? 2000 : 201000);
  }
}

// Most of the time before the second one is that of the first.
TEST_F(StructureTest, SeveralSlowIterationsAreNoPhases) {
  for (const std::size_t usual : {10U, 19U, 9U}) {
    for (std::size_t i = 0; i < usual; ++i) call(1, 10000, 100);
    if (usual == 9) break;
    ranks[0].compute(10000);
    ranks[1].compute(410000);
    for (Script& rank : ranks) rank.at(1);
    ranks[0].call("MPI_Barrier", 400100);
    ranks[1].call("MPI_Barrier", 100);
  }
  find();
  ASSERT_EQ(names(), "A");
  ASSERT_EQ(found.loops.size(), 2U);
  for (const Loop& each : found.loops) EXPECT_EQ(each.slow_iterations, 2U);
}

// As of ranks that share a processor: without it, an iteration lasts a time slice longer.
TEST_F(StructureTest, IterationsThatTakeLongOftenAreNotSlow) {
  for (int i = 0; i < 300; ++i) {
    call(1, i % 10 < 3 ? 9000 : 1000);
    call(2, i == 150 ? 30000 : 1000);
  }
  find();
  ASSERT_NE(loop(0), nullptr);
  EXPECT_EQ(loop(0)->median_ns, 4000);
  ASSERT_EQ(names(), "A");
  EXPECT_EQ(loop(0)->slow_iterations, 1U);
  EXPECT_EQ(loop(0)->beyond_ns, 37000);
}

TEST_F(StructureTest, WithoutALoopNothingIsClaimed) {
  for (const std::uint32_t line : {1, 2, 3, 4, 5}) call(line, 100000);
  find();
  EXPECT_FALSE(found.phases.empty());
  EXPECT_TRUE(found.loops.empty());
}

TEST_F(StructureTest, WithoutCallsThereIsNothing) {
  find();
  EXPECT_TRUE(found.phases.empty());
  EXPECT_TRUE(found.loops.empty());
}

TEST_F(StructureTest, IterationsWithGapsInTheTraceAreLeftOut) {
  iterate(50, {1, 2});
  for (Script& rank : ranks) rank.is_left_out(150000, 1);
  iterate(50, {1, 2});
  find();
  ASSERT_EQ(names(), "A");
  ASSERT_NE(loop(0), nullptr);
  EXPECT_EQ(loop(0)->iterations, 99U);
  EXPECT_TRUE(loop(0)->slow.empty());
}

TEST_F(StructureTest, FromTheLastCallToAGapIsNoComputing) {
  iterate(50, {1, 2});
  for (Script& rank : ranks) {
    rank.compute(150000);  // before a call that is not in the trace
    rank.is_left_out(1000, 1);
  }
  iterate(50, {1, 2});
  find();
  ASSERT_EQ(names(), "A");
  EXPECT_NEAR(found.phases[0].mpi_share, 0.5, 0.01);
}

TEST_F(StructureTest, WritingTheBufferIsNoComputing) {
  iterate(100, {1, 2});
  for (Script& rank : ranks) rank.flushes(150000);
  iterate(100, {1, 2});
  find();
  ASSERT_EQ(names(), "A");
  ASSERT_NE(loop(0), nullptr);
  EXPECT_EQ(loop(0)->iterations, 200U);
  EXPECT_NEAR(found.phases[0].mpi_share, 0.5, 0.01);
}

TEST_F(StructureTest, ARankWithOtherCallsHasALoopOfItsOwn) {
  for (int i = 0; i < 200; ++i) {
    ranks[0].at(1);
    ranks[0].call("MPI_Probe", 2000);
    ranks[0].at(2);
    ranks[0].call("MPI_Recv", 1000);
    ranks[1].compute(2000);
    ranks[1].at(3);
    ranks[1].call("MPI_Send", 1000);
  }
  find();
  ASSERT_EQ(names(), "A");
  ASSERT_EQ(found.loops.size(), 2U);
  EXPECT_EQ(line(found.loops[0].line), 1);
  EXPECT_EQ(line(found.loops[1].line), 3);
}

TEST(PhaseNamesTest, AreLetters) {
  EXPECT_EQ(phase_name(0), "A");
  EXPECT_EQ(phase_name(25), "Z");
  EXPECT_EQ(phase_name(26), "AA");
  EXPECT_EQ(phase_name(701), "ZZ");
  EXPECT_EQ(phase_name(702), "AAA");
}

}  // namespace
}  // namespace tare::reader

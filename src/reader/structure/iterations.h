// Finds the iterations of each rank in each detected phase. An iteration lasts from one call of a certain line, or call
// path, to its next call. The line is chosen so that these are the iterations of the outermost loop.
#pragma once

#include <cstdint>
#include <vector>

#include "reader/structure/detected_phases.h"
#include "reader/structure/rank_calls.h"
#include "reader/time_arithmetic.h"

namespace tare::reader {

struct Iteration {
  std::int64_t start_ns = 0, duration_ns = 0, mpi_ns = 0;
  std::uint32_t calls = 0;  // without polls, whose number depends on the time

  std::int64_t end_ns() const { return sum(start_ns, duration_ns); }
  // Whether it is under way in the middle of another one.
  bool is_beside(const Iteration& other) const {
    const std::int64_t middle_ns = sum(other.start_ns, other.duration_ns / 2);
    return start_ns <= middle_ns && (middle_ns < end_ns() || middle_ns == start_ns);
  }
};

// One of the longest iterations, with the cause: the place where it exceeds the usual time the most, on this rank or on
// another one.
struct SlowIteration {
  std::uint32_t number = 0;
  Iteration iteration{};
  std::int32_t cause_rank = -1;
  CalledLine cause{};
  bool is_in_call = false;  // true: in the calls of `cause`; false: outside MPI before them
  std::int64_t cause_ns = 0;
  OffTimes cause_off{};  // the time in which the cause was on no processor meanwhile, in calls or outside MPI as it was
};

// The iterations of one rank in one phase.
struct Loop {
  std::int32_t world = 0, rank = -1;
  std::uint32_t thread = 0;  // the only one that is looked at
  std::uint32_t phase = 0;   // DetectedPhase::number
  CalledLine line{};         // the line or call path whose calls begin the iterations
  // On one of the ranks whose iterations begin with this line, the trace has gaps before or between them. Those of
  // equal numbers need not correspond then, but those that are beside each other do.
  bool has_gaps = false;
  std::uint64_t iterations = 0;
  std::int64_t median_ns = 0, longest_ns = 0;
  std::uint64_t slow_iterations = 0;  // number of iterations in `listed` that take more than twice the third quartile
  std::int64_t beyond_ns = 0;         // time beyond the median in these, summed
  std::vector<Iteration> listed{};    // the first ones, in their order, without iterations with a gap in the trace
  std::vector<SlowIteration> slow{};  // the longest slow iterations, in their order
};

// The structure of a run.
struct RunStructure {
  std::vector<DetectedPhase> phases;  // sorted by world and time
  std::vector<Loop> loops;            // sorted by world, phase and rank; a rank without iterations has none
};

// The maximum numbers of elements of Loop::listed and Loop::slow.
inline constexpr std::size_t max_iterations = 65536, max_slow = 8;

// Reads the trace twice, on several threads.
Result<RunStructure> run_structure(Run& run);

}  // namespace tare::reader

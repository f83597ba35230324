// The iterations of each rank in each detected phase: from one call of a line to the next, that of the outermost loop.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reader/structure/detected_phases.h"
#include "reader/structure/rank_calls.h"

namespace tare::reader {

struct Iteration {
  std::int64_t start_ns = 0, duration_ns = 0, mpi_ns = 0;
  std::uint32_t calls = 0;  // without polls, of which there are as many as there is time for
};

// An iteration that takes more than twice the median of its rank, one of the longest, and where it takes longer than
// the others do: there the time is that beyond the usual.
struct SlowIteration {
  std::uint32_t number = 0;
  Iteration iteration{};
  std::int32_t cause_rank = -1;
  CalledLine cause{};
  bool is_in_call = false;  // else outside MPI before the call
  std::int64_t cause_ns = 0;
};

// Of one rank in one phase.
struct Loop {
  std::int32_t world = 0, rank = -1;
  std::uint32_t phase = 0;  // its number
  CalledLine line{};        // or path, whose calls begin the iterations
  std::uint64_t iterations = 0;
  std::int64_t median_ns = 0, longest_ns = 0;
  std::uint64_t slow_iterations = 0;  // of those listed: take more than twice the median
  std::int64_t beyond_ns = 0;         // what these take beyond the median
  std::vector<Iteration> listed{};    // the first ones, in their order; with a gap of the trace in it, one is left out
  std::vector<SlowIteration> slow{};  // in their order
};

// The structure of a run.
struct RunStructure {
  std::vector<DetectedPhase> phases;  // by world and time
  std::vector<Loop> loops;            // by world, phase and rank; a rank without iterations has none
};

// Of a rank in a phase, so many iterations are listed, and so many slow ones explained.
inline constexpr std::size_t most_iterations = 65536, most_slow = 8;

// Reads the trace twice, on several threads.
Result<RunStructure> run_structure(Run& run);

}  // namespace tare::reader

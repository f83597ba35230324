// Detects the phases of a run from its trace: intervals in which the ranks behave in the same way.
//
// As in SimPoint (Sherwood et al., ASPLOS 2002), time is divided into windows, and each window is described by the
// shares of its time in the parts of the program. Here, these parts are the lines that call MPI, as in the work of
// Casas, Badia and Labarta on MPI (IJHPCA 2010). The time of a line is spread evenly over each stretch in which it is
// called repeatedly (repeats.h), so that windows that are shorter than an iteration are similar. docs/analyses.md has
// all limits.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reader/structure/rank_calls.h"
#include "reader/structure/repeats.h"

namespace tare::reader {

struct DetectedPhase {
  std::int32_t world = 0;
  std::uint32_t number = 0;  // in its world, in the order of time
  std::uint32_t kind = 0;    // equal for similar phases (change_points.h: kinds)
  std::int64_t start_ns = 0, end_ns = 0;
  double mpi_share = 0;    // share of MPI in the time of the ranks
  CalledLine line{};       // the line with the most time: in its calls and before them
  double line_share = 0;   // its share of the time of the ranks
  bool is_before = false;  // this time is all outside MPI, before a call
};

// The name of a kind of phases: A, B, … Z, AA, …
std::string phase_name(std::uint32_t kind);

// A histogram of the times at which calls begin.
struct CallStarts {
  static constexpr std::size_t bins = 2048;
  std::int64_t from_ns = 0, to_ns = 0;
  std::vector<std::uint64_t> counts = std::vector<std::uint64_t>(bins);

  void add(std::int64_t time_ns);
  // Calls per second in this interval.
  double rate(std::int64_t begin_ns, std::int64_t end_ns) const;
};

// The stretches of the ranks of a world, from MPI_Init to MPI_Finalize.
struct WorldStretches {
  std::int32_t world = 0;
  CallStarts starts{};                            // over all ranks
  std::vector<std::size_t> ranks{};               // indices in RankCalls::ranks()
  std::vector<RankLines> lines{};                 // the following three: one element for each of these ranks
  std::vector<std::vector<Stretch>> stretches{};  // Stretch::line is an index in RankLines::lines
  std::vector<std::vector<Stretch>> paths{};      // Stretch::line is an index in RankLines::paths
};

// Reads the trace once, on several threads.
std::vector<WorldStretches> stretches_of(const RankCalls& calls);

// The phases, in the order of time. Each begins where the one before ends. Empty if there are no calls.
std::vector<DetectedPhase> detected_phases(const WorldStretches& of);

}  // namespace tare::reader

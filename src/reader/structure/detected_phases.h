// The phases of a run, found from its trace: stretches of time in which the ranks do alike.
//
// As in SimPoint (Sherwood et al., ASPLOS 2002), time is cut into windows, and each is described by how its time is
// shared out among parts of the program; here these are the lines that call MPI, as in the work on MPI of Casas, Badia
// and Labarta (IJHPCA 2010). The time of a line is spread evenly over each stretch in which it is called again and
// again (repeats.h), so that windows shorter than an iteration are alike. docs/analyses.md has all limits.
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
  std::uint32_t kind = 0;    // phases in which the ranks do alike have the same
  std::int64_t start_ns = 0, end_ns = 0;
  double mpi_share = 0;    // of the time of the ranks
  CalledLine line{};       // where most of the time is: in its calls and before them
  double line_share = 0;   // of the time of the ranks
  bool is_before = false;  // all of that time is outside MPI, before a call
};

// A, B, … Z, AA, …
std::string phase_name(std::uint32_t kind);

// How many calls begin when.
struct CallStarts {
  static constexpr std::size_t bins = 2048;
  std::int64_t from_ns = 0, to_ns = 0;
  std::vector<std::uint64_t> counts = std::vector<std::uint64_t>(bins);

  void add(std::int64_t time_ns);
  // A second, in this span.
  double rate(std::int64_t begin_ns, std::int64_t end_ns) const;
};

// What the ranks of a world do, from MPI_Init to MPI_Finalize.
struct WorldStretches {
  std::int32_t world = 0;
  CallStarts starts{};                            // of all ranks
  std::vector<std::size_t> ranks{};               // in RankCalls::ranks()
  std::vector<RankLines> lines{};                 // of each of them, as the next two
  std::vector<std::vector<Stretch>> stretches{};  // of lines, and before their calls
  std::vector<std::vector<Stretch>> paths{};      // of paths
};

// Reads the trace once, on several threads.
std::vector<WorldStretches> stretches_of(const RankCalls& calls);

// In the order of time, without gaps in between. None if there are no calls.
std::vector<DetectedPhase> detected_phases(const WorldStretches& of);

}  // namespace tare::reader

// Computes how long a traced run would have taken on an ideal network. There, messages arrive as soon as they are sent,
// and MPI calls take no time except for waiting for other ranks. docs/profile.md has the rules.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reader/run/run.h"

namespace tare::reader {

// A change of what was recorded, to see what would be gained by it.
struct Without {
  // The time of a rank outside MPI before the calls of a site, times a factor, and each time at most `max_ns`.
  struct Faster {
    std::int32_t rank = -1, site = -1;
    double factor = 1;
    std::int64_t max_ns = INT64_MAX;
  };
  // Ranks that share the work before their calls of one line: in place of each such time of a rank there is the mean
  // over all ranks of the world, in one of two ways. The share `own` of a rank's times is no work, and stays with it.
  struct Even {
    std::int32_t rank = -1, site = -1;
    double own = 0;
  };
  std::int32_t world = 0;
  std::vector<Faster> faster;
  std::vector<std::int32_t> not_waiting;  // sites in whose calls nobody waits
  std::vector<Even> even;
};

struct ReplayedWorld {
  int world = 0;
  std::string obstacle;         // not empty: why it could not be replayed; all other fields are then 0
  std::int64_t runtime_ns = 0;  // from the first rank that leaves MPI_Init to the last that enters MPI_Finalize
  std::int64_t ideal_ns = 0;    // the same on an ideal network
  std::int64_t useful_ns = 0;   // time outside MPI, of the rank with the most
  // Time in calls for which the trace does not tell what they wait for, of the thread with the most. The replay keeps
  // the recorded duration of these calls.
  std::int64_t unknown_ns = 0;
  // ideal_ns with each of the changes of this world. Of shared work, the k-th times of all ranks are one piece of work,
  // to which ranks without a k-th time add nothing.
  std::vector<std::int64_t> without_ns{};
  // The same, but what ranks share is the work in the same part of all their times. It differs where ranks have other
  // numbers of times.
  std::vector<std::int64_t> without_by_part_ns{};
};

// One result for each world that has ranks. Reads the trace once, and needs some 150 bytes of memory for each message.
Result<std::vector<ReplayedWorld>> replay(Run& run, const std::vector<Without>& changes = {});

}  // namespace tare::reader

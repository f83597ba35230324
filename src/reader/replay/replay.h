// Computes how long a traced run would have taken on an ideal network. There, messages arrive as soon as they are sent,
// and MPI calls take no time except for waiting for other ranks. docs/profile.md has the rules.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reader/run/run.h"

namespace tare::reader {

struct ReplayedWorld {
  int world = 0;
  std::string obstacle;         // not empty: why it could not be replayed; all other fields are then 0
  std::int64_t runtime_ns = 0;  // from the first rank that leaves MPI_Init to the last that enters MPI_Finalize
  std::int64_t ideal_ns = 0;    // the same on an ideal network
  std::int64_t useful_ns = 0;   // time outside MPI, of the rank with the most
  // Time in calls for which the trace does not tell what they wait for, of the thread with the most. The replay keeps
  // the recorded duration of these calls.
  std::int64_t unknown_ns = 0;
};

// One result for each world that has ranks. Reads the trace once, and needs some 150 bytes of memory for each message.
Result<std::vector<ReplayedWorld>> replay(const Run& run);

}  // namespace tare::reader

// How long a traced run would have taken on an ideal network: one on which messages arrive as soon as they are sent,
// and no call of MPI takes any time but that of waiting for other ranks. docs/profile.md has the rules.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reader/run/run.h"

namespace tare::reader {

struct ReplayedWorld {
  int world = 0;
  std::string obstacle;         // why it could not be replayed; the rest is 0 then
  std::int64_t runtime_ns = 0;  // from the first rank that leaves MPI_Init to the last that enters MPI_Finalize
  std::int64_t ideal_ns = 0;    // the same on an ideal network
  std::int64_t useful_ns = 0;   // outside MPI, of the rank with the most
  // Of the rank with the most: in calls that wait for what the trace does not tell, which take as long as they took.
  std::int64_t unknown_ns = 0;
};

// One for each world that has ranks. Reads the whole trace, and needs some 150 bytes of memory for each of its
// messages.
Result<std::vector<ReplayedWorld>> replay(const Run& run);

}  // namespace tare::reader

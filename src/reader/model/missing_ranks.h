// The ranks of a run of which it holds no results, although other processes, or their own, say that they exist; and
// those of which it does not hold all.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reader/model/process.h"

namespace tare::reader {

// Ranks first to last of a world that has `size` ranks.
struct MissingRanks {
  std::int32_t world = 0, first = 0, last = 0, size = 0;
  std::string host;  // where they ran; empty: not known
};

// Whether the process has told who it is, and its results are neither in the run directory nor in a segment that can be
// read here. They are where it ran, unless they were removed there.
bool is_elsewhere(const Process& process);

// Sorted by world and rank. `processes` and `others` are in such an order; their worlds are assigned. A world of which
// nobody knows how large it is has no missing ranks.
std::vector<MissingRanks> missing_ranks(const std::vector<Process>& processes, const std::vector<Process>& others);

// The ranks of which the run holds what a keeper wrote while they ran, in the order of `processes`. What they recorded
// later is where they ran.
std::vector<MissingRanks> saved_ranks(const std::vector<Process>& processes);

}  // namespace tare::reader

// Monitors the run's processes on this node, as a node of the run's tree (tree/): nodes meet in the run's directory, in
// a folder that its owner alone can read. The root stores rounds in the run; so does a node that cannot reach any
// other.
#pragma once

#include "tared/job.h"

namespace tare::tared {

// `spec`: the text of TARE_MONITOR. `is_first`: it is the root of the tree, as `tare run` has started it. Returns when
// there is nothing more to do; at once if the text makes no sense.
void monitor(const Job& job, const char* spec, const char* host, bool is_first);

inline constexpr std::uint32_t default_fan_out = 8;

// The value of a key of such a text; `otherwise` if it is not there.
std::string value_of(const std::string& spec, const std::string& key, const std::string& otherwise);

}  // namespace tare::tared

// Monitors the run's processes on this node, as a node of the run's tree (tree/). Nodes meet in a folder of the run
// directory that only its owner can read. The root stores rounds in the run; so does a node that cannot reach any
// other.
#pragma once

#include "tared/job.h"

namespace tare::tared {

// `spec`: the text of TARE_MONITOR. `is_first`: this is the root of the tree, started by `tare run`. Returns when
// nothing more is to be done; false if rounds could not be made or stored.
bool monitor(const Job& job, const char* spec, const char* host, bool is_first);

}  // namespace tare::tared

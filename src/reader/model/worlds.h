// Which processes of a run are together in an MPI_COMM_WORLD.
#pragma once

#include <string>
#include <vector>

#include "reader/model/process.h"

namespace tare::reader {

// Assigns every process to a world, which is one MPI_COMM_WORLD, and sorts the processes by (world, rank). A run may
// start several worlds. Processes are taken in the order of their start, those that were not spawned first. Each one
// joins the first world of its size that lacks its rank. Worlds of spawned processes hold only spawned processes; jobs
// of other executables or hosts that ran at the same time are other worlds. Returns a warning if nothing tells worlds
// of one time apart; else nothing.
std::string find_worlds(std::vector<Process*>& processes);

}  // namespace tare::reader

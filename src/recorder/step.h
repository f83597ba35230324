// Processes of a node drain in step.
//
// Ranks that exchange messages wait for the one that drains, so drains at different times cost every rank the sum of
// them all: with n ranks, n drains each. It is the same as with the interruptions of an operating system, whose remedy
// is to have them at the same time (Petrini, Kerbyson, Pakin: The Case of the Missing Supercomputer Performance,
// SC 2003; Jones et al., same place). So a process whose buffer is full says so in a word that all processes of the run
// on this node share, and those whose buffers are at least half full drain with it, at their next MPI call.
#pragma once

#include <atomic>
#include <cstdint>

namespace tare::recorder {

// How many drains of full buffers there have been on this node; of this process alone if there is no memory to share.
[[gnu::visibility("hidden")]] extern constinit std::atomic<std::uint32_t>* drains_of_node;

// Finds the word of a run, or makes it: a file of one page in `directory`.
void fall_in(const char* directory, const char* run_id) noexcept;

// Removes the file, at the end of a process on a host without a collector; those that have it keep it.
void fall_out() noexcept;

}  // namespace tare::recorder

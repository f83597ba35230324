// What the processes of a run share on a node.
//
// Drains in step. Ranks that exchange messages wait for the one that drains, so drains at different times cost every
// rank the sum of them all: with n ranks, n drains each. It is the same as with the interruptions of an operating
// system, whose remedy is to have them at the same time (Petrini, Kerbyson, Pakin: The Case of the Missing
// Supercomputer Performance, SC 2003; Jones et al., same place). So a process whose buffer is full says so in a word
// that all processes of the run on this node share, and those whose buffers are at least half full drain with it, at
// their next MPI call.
//
// The budget. What of the calls is kept, all processes of the node decide alike (budget/common_shares.h).
//
// The monitor. What it decides, all processes of the node read here.
//
// tared. If the node has one (src/tared), nobody drains as long as it keeps up: it sleeps until a sub-buffer is full.
#pragma once

#include <atomic>
#include <cstdint>

#include "format/sweet_spot.h"
#include "format/told.h"
#include "recorder/budget/common_shares.h"

namespace tare::recorder {

struct NodeWords {
  std::atomic<std::uint32_t> drains;     // of full buffers by their threads
  std::atomic<std::uint32_t> full;       // sub-buffers that have become full, and the next: tared sleeps on this
  std::atomic<std::uint32_t> processes;  // that have begun to record
  std::atomic<std::uint32_t> tared;      // process id of the one that drains now; 0: none, or one that was too slow
  std::atomic<std::uint32_t> started;    // whether somebody has started one
  // Which offload points of a monitored run are offloads (src/monitor/cadence.h); written by tared.
  alignas(64) std::atomic<std::uint64_t> cadence;
  // And what it has found out about the tree.
  alignas(64) format::Told<format::SweetSpots> sweet_spots;
  // Of a run with a budget.
  alignas(64) CommonShares shares;
};
static_assert(sizeof(NodeWords) <= 4096);

// Of this node; of this process alone if there is no memory to share.
[[gnu::visibility("hidden")]] extern constinit NodeWords* node_words;

// Finds the words of a run, or makes them: a file of one page in `directory`. False if there is no room for it.
bool map_node_words(const char* directory, const char* run_id) noexcept;

// Removes the file, at the end of a process on a host without a collector; those that have it keep it.
void remove_node_words() noexcept;

// Whether the node's tared drains full sub-buffers.
inline bool tared_serves() noexcept { return node_words->tared.load(std::memory_order_relaxed) != 0; }

// Wakes tared: a sub-buffer is full, or there is a new process.
void call_tared() noexcept;

}  // namespace tare::recorder

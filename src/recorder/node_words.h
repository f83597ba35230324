// Memory that the processes of a run share on a node.
//
// Drains in step. Ranks that exchange messages wait for a rank that drains. If n ranks drain at different times, each
// of them loses the time of n drains. Interruptions by the operating system have the same effect, and the same remedy:
// to have them at the same time (Petrini, Kerbyson, Pakin: The Case of the Missing Supercomputer Performance, SC 2003;
// Jones et al., same place). So a process with a full buffer increases a counter that all processes of the run on this
// node share. Those with buffers that are at least half full drain, too, at their next MPI call.
//
// The budget. All processes of the node agree on how much is recorded (budget/common_shares.h).
//
// The monitor. All processes of the node read its decisions here.
//
// The keeper. It removes the file of these words, if there is one.
//
// Spells of equal time begin together (spells.h).
//
// tared. While a node's tared (src/tared) keeps up, no rank drains. tared sleeps until a sub-buffer is full.
#pragma once

#include <atomic>
#include <cstdint>

#include "format/control.h"
#include "format/published.h"
#include "format/sweet_spot.h"
#include "recorder/budget/common_shares.h"

namespace tare::recorder {

// The spells of equal time of a run without synchronisation points. Whoever increases `writers` from 0 writes them.
struct TimedSpells {
  std::atomic<std::uint32_t> ranks;  // that may pass synchronisation points
  std::atomic<std::uint32_t> quiet;  // those of them that pass none
  std::atomic<std::uint32_t> writers;
  std::atomic<std::uint32_t> first;  // the number of the spell at `begin`
  std::atomic<std::uint64_t> ticks;  // the length of each
  std::atomic<std::uint64_t> begin;  // in ticks; 0: there are none. Written last.
};

// NodeWords::kept. A keeper that lives holds the mark of the file of these words (mark_file), where the file system has
// such marks. One that was killed does not.
enum Kept : std::uint32_t { not_kept = 0, keeper_started = 1, keeper_marked = 2 };

struct NodeWords {
  std::atomic<std::uint32_t> drains;     // counts full buffers that their threads drain
  std::atomic<std::uint32_t> full;       // counts sub-buffers that have become full; tared sleeps on it
  std::atomic<std::uint32_t> processes;  // counts processes that have begun to record
  std::atomic<std::uint32_t> tared;      // process id of the tared that drains; 0: there is none, or it was too slow
  std::atomic<std::uint32_t> started;    // whether a process has started tared
  std::atomic<std::uint32_t> kept;       // whether a process has started a keeper, which has not ended: Kept
  std::atomic<std::uint32_t> told_kept;  // whether a process has said that results stay here (kept_results.h)
  // Which offload points of a monitored run are offloads (src/monitor/cadence.h); written by tared.
  alignas(64) std::atomic<std::uint64_t> cadence;
  // What tared has found out about the tree.
  alignas(64) format::Published<format::SweetSpots> sweet_spots;
  // Messages of users to the ranks; the number of the last one tells whether there is a new one.
  alignas(64) std::atomic<std::uint64_t> last_control;
  format::Published<format::ControlMessages> controls;
  // For a run with a budget.
  alignas(64) CommonShares shares;
  // For a run with spells.
  alignas(64) TimedSpells timed;
};
static_assert(sizeof(NodeWords) <= 8192);

// This node's. If no memory can be shared, this process's alone.
[[gnu::visibility("hidden")]] extern constinit NodeWords* node_words;

// Finds the words of a run or creates them: a small file in `directory`. False if there is no room for it.
bool map_node_words(const char* directory, const char* run_id) noexcept;

// Removes the file, at the end of a process on a host without a collector, unless a keeper does. Processes that have
// mapped it keep it.
void remove_node_words() noexcept;

// Whether a keeper serves the node, or is about to.
bool has_keeper() noexcept;
// True if this process has to start the keeper; others then need not.
bool takes_on_keeper() noexcept;
// Called by the keeper, which has mapped the words. Returns what `kept` is as long as it lives.
Kept note_keeper() noexcept;

// Whether the node's tared drains full sub-buffers.
inline bool tared_serves() noexcept { return node_words->tared.load(std::memory_order_relaxed) != 0; }

// Wakes tared, because a sub-buffer is full or there is a new process.
void call_tared() noexcept;

}  // namespace tare::recorder

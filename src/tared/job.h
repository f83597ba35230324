// The jobs of tared: what they get (the run, and when to end), and what they do.
#pragma once

#include <csignal>

#include "tared/open_segment.h"

namespace tare::tared {

// How often SIGTERM came: if more than once, what is left is not waited for.
extern volatile std::sig_atomic_t has_to_end;

struct Job {
  RunPlaces places;
  const Watched& starter;  // jobs end when neither it nor any process of the run exists
};

inline constexpr std::uint64_t look_every_ns = 250'000'000;  // for new processes, and for the end of the starter

// Drains the buffers of a run's processes on this node, so that their threads do not have to.
//
// It copies a full sub-buffer. The copy is valid if `drained` has not passed the sub-buffer since (format/ring.h). The
// chunks of a sub-buffer are always the same. So if a thread does not wait, or tared was killed at any moment, at worst
// a chunk is written twice, and readers keep one. tared publishes what it has written with one compare-and-exchange of
// `drained`.
//
// Returns when nothing more is to be done.
void drain(const Job& job);

// Monitors the run's processes on this node, as a node of the run's tree (tree/). Nodes meet in a folder of the run
// directory that only its owner can read. The root stores rounds in the run; so does a node that cannot reach any
// other.
//
// `spec`: the text of TARE_MONITOR. `is_first`: this is the root of the tree, started by `tare run`. Returns when
// nothing more is to be done; false if rounds could not be made or stored.
bool monitor(const Job& job, const char* spec, const char* host, bool is_first);

}  // namespace tare::tared

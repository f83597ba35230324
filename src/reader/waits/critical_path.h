// The critical path of a traced run: the chain of activities, from thread to thread, that made it last as long as it
// did.
#pragma once

#include <cstdint>
#include <vector>

#include "reader/result.h"
#include "reader/run/run.h"
#include "reader/waits/wait_states.h"

namespace tare::reader {

// A stretch of a thread on it.
struct PathPiece {
  std::uint32_t thread;  // index in WaitStates::threads()
  std::int64_t begin_ns, end_ns;
};

// Backwards from the thread that ends last, of each world; the earliest piece of a world first. Where a thread waited,
// the path goes over to the one that it waited for.
std::vector<PathPiece> critical_path(const Run& run, const std::vector<TracedThread>& threads);

// What a rank did on it.
struct PathSum {
  std::int32_t world = 0, rank = -1;
  SiteActivity activity;
  std::uint16_t function = 0;  // of the calls, or the call before which the time was spent
  std::int64_t time_ns = 0;
};
// Reads the trace again; the largest first.
Result<std::vector<PathSum>> path_profile(const Run& run, const std::vector<TracedThread>& threads,
                                          const std::vector<PathPiece>& path);

}  // namespace tare::reader

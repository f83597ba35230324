// The critical path of a traced run: the chain of activities of threads that determines how long the run takes.
#pragma once

#include <cstdint>
#include <vector>

#include "reader/result.h"
#include "reader/run/run.h"
#include "reader/waits/wait_states.h"

namespace tare::reader {

// An interval of a thread that is on the critical path.
struct PathPiece {
  std::uint32_t thread;  // index in WaitStates::threads()
  std::int64_t begin_ns, end_ns;
};

// The critical path of each world, in the order of time. It is followed backwards, from the first thread of the rank
// that ends last. Where a thread waited, the path continues with the thread that it waited for.
std::vector<PathPiece> critical_path(const Run& run, const std::vector<TracedThread>& threads);

// The time of one activity of a rank on the critical path.
struct PathSum {
  std::int32_t world = 0, rank = -1;
  SiteActivity activity;
  std::uint16_t function = 0;  // the function of the calls in which, or before which, the time was spent
  std::int64_t time_ns = 0;
};
// The activities on the path, those with the most time first; not what the trace does not have: what a rank did before
// its first call if only the newest are kept, and from the last call before a gap to its end. Reads the trace once.
Result<std::vector<PathSum>> path_profile(const Run& run, const std::vector<TracedThread>& threads,
                                          const std::vector<PathPiece>& path);

}  // namespace tare::reader

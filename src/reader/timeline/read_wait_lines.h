// Finds the waits and the critical path of a timeline.
#pragma once

#include <atomic>

#include "reader/timeline/timeline.h"

namespace tare::reader {

// Reads the trace once; twice if it shows only at its end which sends are eager. Another thread may set `stop`; the
// result then has what was found until then.
Result<WaitLines> read_wait_lines(Run& run, const Timeline& timeline, const std::atomic<bool>& stop = false);

}  // namespace tare::reader

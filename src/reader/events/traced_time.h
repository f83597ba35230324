// Which part of the life of a process its calls in the trace are from.
#pragma once

#include <cstdint>
#include <vector>

#include "reader/run/run.h"

namespace tare::reader {

// From the end of MPI_Init to the begin of MPI_Finalize; from the first call or to the end, if there is none. Unix
// time.
struct TracedTime {
  std::int64_t begin_ns = 0, end_ns = 0;
};

// By index in Run::processes(). If only the newest events are kept (format::overwrites), what was before the first of a
// process is not known, and its time begins with that.
std::vector<TracedTime> traced_times(const Run& run);

}  // namespace tare::reader

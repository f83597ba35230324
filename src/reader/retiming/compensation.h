// Overhead compensation: takes flushes and wrappers out of a trace, to show the run as it would have been without tare.
//
// The method follows Wolf, Malony, Shende and Morris ("Trace-based parallel performance overhead compensation", HPCC
// 2005) and AIMS (Yan, Sarukkai, Mehra, Software: Practice and Experience 25, 1995). In each thread, a flush takes no
// time, and a call begins earlier by the time of its wrapper. The trace does not contain the time of each wrapper, so
// the mean of the weighed calls of the process is used. A call that waited for another call ends as long after the
// later of the two began as it did in the recording, where the begin of the other call is moved, too. So the time that
// other ranks waited for a thread that flushed is also taken out.
//
// This is a model. It does not change which of several messages a receive with a wildcard takes, how often the program
// polls, and what the caches contained. If an earlier receive from any source may take the message of a receive, it may
// be known too late what this receive waited for. Its call is then not moved by the wait, and the calls up to the next
// one that waits are too early.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "reader/model/time_map.h"
#include "reader/result.h"
#include "reader/run/run.h"

namespace tare::reader {

struct Compensation {
  std::vector<std::shared_ptr<const TimeMaps>> maps;  // by index in Run::processes()
  std::int64_t flush_ns = 0, wrapper_ns = 0;          // time that was taken out, summed over all threads
  std::int64_t earlier_ns = 0;                        // by how much the last event of the run ends earlier
  std::vector<std::string> warnings;
};

// Reads the trace once, in the current times of the run, so clocks must be corrected before. Moves the times of the run
// by the maps (Run::move_times), which include earlier moves. To save memory, a map has a knot only for each flush,
// each wait and every 16th call. So times of wrappers are exact to within those of 16 calls.
Result<Compensation> compensate(Run& run);

}  // namespace tare::reader

// The trace as it would have been without what tare did while the program ran: flushes and wrappers taken out.
//
// After Wolf, Malony, Shende and Morris ("Trace-based parallel performance overhead compensation", HPCC 2005) and AIMS
// (Yan, Sarukkai, Mehra, Software: Practice and Experience 25, 1995). In each thread, a flush takes no time, and a call
// comes earlier by what its wrapper took: the mean of those that were weighed in its process, as the trace does not
// have each. A call that waited for another one ends when that one, moved too, lets it: so long after the later of the
// two began as it did in the recording. What others wait for a thread that flushes is so taken out as well.
//
// This is a model. Which of several messages a wildcard takes, how often a program polls, and what the caches held stay
// as recorded. A receive that stands behind one from any source, which may take its message, can be known too late: its
// call is not moved by what it waited for, and the calls up to the next that waits come too early.
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
  std::vector<std::shared_ptr<const TimeMaps>> maps;  // of Run::processes()
  std::int64_t flush_ns = 0, wrapper_ns = 0;          // taken out, of all threads together
  std::int64_t earlier_ns = 0;                        // the last event of the run ends so much earlier
  std::vector<std::string> warnings;
};

// Reads the trace once, in the times that the run has: clocks are to be corrected before. Leaves its times moved by the
// maps, which include those that it had. Wrappers are exact to within those of 16 calls: a map has a knot for each
// flush, each wait and each 16 other calls.
Result<Compensation> compensate(Run& run);

}  // namespace tare::reader

// How the threads of one process were scheduled, and where to read it from.
#pragma once

#include <vector>

#include "format/rank_set.h"
#include "format/scheduling.h"
#include "reader/store/payload.h"

namespace tare::reader {

// Of one location. The spans are in the order of time, and none overlaps another, in a run that is not damaged.
struct Scheduling {
  format::SchedulingSums sums{};
  std::vector<format::SchedulingSpan> spans;
};

// Of the locations of a process; empty if there is nothing, or if it is damaged.
std::vector<Scheduling> read_scheduling(const PayloadSource& source);

// Time on no processor: the parts of a format::OffProcessor.
struct OffTimes {
  std::int64_t descheduled_ns = 0, blocked_ns = 0;
  std::int64_t unknown_ns = 0;  // one of the two
};
OffTimes off_times(const format::OffProcessor& of);

// The numbers of the processors on which the threads may run.
format::RankSet allowed_processors(const format::SchedulingSums& sums);

}  // namespace tare::reader

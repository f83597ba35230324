// Finds and counts clock violations: messages that seem to be received before they were sent. Corrects the times so
// that there are none.
//
// The method is the controlled logical clock of Rabenseifner ("The Controlled Logical Clock", EuroPDP 1997), extended
// to collectives by Becker, Rabenseifner, Wolf and Linford ("Scalable timestamp synchronization for event traces of
// message-passing applications", Parallel Computing 35, 2009). A receive that ends before its message was sent is moved
// to the time of the send, and so are the later events of the process. The correction decreases at the rate `fading`,
// so that intervals nearly keep their lengths. Becker's backward amortisation is not used: a violated call becomes
// longer, and the events before it do not move.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "reader/model/time_map.h"
#include "reader/result.h"
#include "reader/run/run.h"

namespace tare::reader {

// The messages and collectives that a rank received from another rank before that one had sent them, by their clocks.
struct Violations {
  std::int32_t world = 0, rank = -1, other_rank = -1;  // `rank` ended its call before `other_rank` began
  std::uint64_t messages = 0, collectives = 0;
  std::int64_t most_ns = 0;  // the clock of `rank` is behind that of the other by at least this
};

struct ClockCorrection {
  static constexpr double fading = 0.01;  // decrease of a correction in ns, for each ns

  std::vector<std::shared_ptr<const TimeMaps>> maps;  // by index in Run::processes(); nullptr: not moved
  std::vector<Violations> violations;                 // as recorded, the largest first
  std::int64_t max_moved_ns = 0;
  unsigned rounds = 0;          // how often the trace was read
  std::uint64_t remaining = 0;  // messages and collectives still violated after the last round
  std::vector<std::string> warnings;
};

// The violations in the current times of the run. Moves nothing. Reads the trace once.
Result<std::vector<Violations>> clock_violations(Run& run);

// Reads the trace again and again until there are no violations, at most 32 times: a correction passes on from one rank
// to the next in each round. Moves the times of the run by the maps (Run::move_times). Memory grows with the number of
// violations.
Result<ClockCorrection> correct_clocks(Run& run);

}  // namespace tare::reader

// Clocks that disagree: found, counted, and corrected so far that no message is received before it was sent.
//
// The controlled logical clock of Rabenseifner ("The Controlled Logical Clock", EuroPDP 1997), extended to collectives
// by Becker, Rabenseifner, Wolf and Linford ("Scalable timestamp synchronization for event traces of message-passing
// applications", Parallel Computing 35, 2009): a receive that ends before its message was sent is moved behind that,
// and with it what the process does then; the correction fades at `fading`, so that intervals keep their lengths
// nearly. Becker's backward amortisation is left out: a violated call becomes longer, and what was before it stays.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "reader/model/time_map.h"
#include "reader/result.h"
#include "reader/run/run.h"

namespace tare::reader {

// What one process has of another that its clock says had not happened yet.
struct Violations {
  std::int32_t world = 0, rank = -1, other_rank = -1;  // whose call ended too early; who had not begun
  std::uint64_t messages = 0, collectives = 0;
  std::int64_t most_ns = 0;  // the clock of `rank` is behind that of the other by at least this
};

struct ClockCorrection {
  static constexpr double fading = 0.01;  // ns of a correction, for each ns that the process goes on

  std::vector<std::shared_ptr<const TimeMaps>> maps;  // of Run::processes(); nullptr: nothing is moved
  std::vector<Violations> violations;                 // as recorded, the most first
  std::int64_t most_moved_ns = 0;
  unsigned rounds = 0;          // readings of the trace
  std::uint64_t remaining = 0;  // messages and collectives that are still violated: too many rounds were needed
  std::vector<std::string> warnings;
};

// Those in the times that the run has; nothing is moved. Reads the trace once.
Result<std::vector<Violations>> clock_violations(Run& run);

// Reads the trace until nothing is violated any more, once for each rank that a correction has to pass through. Leaves
// the run's times moved by the maps. Memory grows with the number of violations.
Result<ClockCorrection> correct_clocks(Run& run);

}  // namespace tare::reader

// The profile of a run, grouped by keys: queries the profiles and makes rows of the answers. docs/profile.md defines
// the quantities.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "reader/run/run.h"

namespace tare::reader {

// The keys of a row. `line`: calls of one source line are merged, whatever their call paths are.
struct ProfileKeys {
  bool site = false, line = false, function = false, size = false, communicator = false, rank = false;

  bool has_place() const { return site || line; }
  bool has_function() const { return has_place() || function; }
};

struct ProfileRowSum {
  ProfileSum sum;
  // Half the width of the 95 % confidence interval of sum.time_ns, if a random sample of the calls was timed; else
  // nothing.
  std::optional<std::int64_t> time_error_ns;
  // For blocking collectives: an estimate of the time in which ranks waited for the last one; else nothing.
  std::optional<std::int64_t> imbalance_ns;
};

// The rows, in the order of the run. `ranks`: restricts the processes. The time of MPI_Init and MPI_Finalize is only
// included if rows are grouped by site, line or function; in other rows, it would dominate. Their calls are in all
// rows. Reads the profiles once.
std::vector<ProfileRowSum> profile_rows(Run& run, const ProfileKeys& keys, const Wanted& ranks);

}  // namespace tare::reader

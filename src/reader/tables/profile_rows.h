// The profile of a run by some keys: what is asked of the profiles, and how the answers become rows. docs/profile.md
// defines the figures.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "reader/run/run.h"

namespace tare::reader {

// Of a row. `line`: calls from one line are one, whatever their paths.
struct ProfileKeys {
  bool site = false, line = false, function = false, size = false, communicator = false, rank = false;

  bool has_place() const { return site || line; }
  bool has_function() const { return has_place() || function; }
};

// Times of the calls that `sum` counts, as seen over the ranks that make them.
struct ProfileRowSum {
  ProfileSum sum;
  // Half the width of the 95 % interval of the time of calls of which a sample was timed.
  std::optional<std::int64_t> time_error_ns;
  // Of collectives: time in which ranks waited for the last one.
  std::optional<std::int64_t> imbalance_ns;
};

// In the order of the run. `ranks`: only these. MPI_Init and MPI_Finalize are only in rows by site, line or function:
// their time would hide all others. Reads the profiles once.
std::vector<ProfileRowSum> profile_rows(Run& run, const ProfileKeys& keys, const Wanted& ranks);

}  // namespace tare::reader

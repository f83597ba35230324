// The profile of a run, grouped by keys: queries the profiles and makes rows of the answers. docs/profile.md defines
// the quantities.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reader/run/run.h"

namespace tare::reader {

// The keys of a row. `line`: calls of one source line are merged, whatever their call paths are.
struct ProfileKeys {
  bool site = false, line = false, function = false, size = false, communicator = false, rank = false;

  bool has_place() const { return site || line; }
  bool has_function() const { return has_place() || function; }
  bool is_rank_alone() const { return rank && !has_function() && !size && !communicator; }
};

// The calls that are summed; nothing: all. Communicators are named as in the column `communicator`.
struct ProfileChoice {
  std::optional<std::vector<std::string>> functions{}, communicators{};
  Wanted ranks{}, worlds{};
  bool callers_alone = false;  // as in SumsQuery
};

// The same of the calls of a row in the whole run, where some were only counted. Nothing: it is not known.
struct WholeRun {
  std::optional<std::int64_t> calls{}, calls_error{}, time_ns{}, time_error_ns{}, bytes{}, bytes_error{};
};

struct ProfileRowSum {
  ProfileSum sum;
  // Half the width of the 95 % confidence interval of sum.time_ns, if a random sample of the calls was timed; else
  // nothing.
  std::optional<std::int64_t> time_error_ns;
  // For blocking collectives: an estimate of the time in which ranks waited for the last one; else nothing.
  std::optional<std::int64_t> imbalance_ns;
  WholeRun whole{};
  // By rank alone: the time as a share of the net time of the threads that call MPI; nothing: not known, or not of MPI.
  std::optional<double> mpi_share = 0;
};

// The indices of the communicators with one of these names.
std::vector<std::int32_t> communicators_named(const Run& run, const std::vector<std::string>& wanted);

// What profile_rows() asks the profiles.
Questions profile_questions(Run& run, const ProfileKeys& keys, const ProfileChoice& choice);

// The rows, in the order of the run. The time of MPI_Init and MPI_Finalize is only included if rows are grouped by
// site, line or function; in other rows, it would dominate. Their calls are in all rows. Of other sources of events,
// rows by communicator have no calls; those by rank alone only if their functions are chosen; those by size, unless
// they are chosen, have none that contain the program. By rank alone, every process has a row, and if all calls are
// chosen, its time is that of its account. Reads the profiles once.
std::vector<ProfileRowSum> profile_rows(Run& run, const ProfileKeys& keys, const ProfileChoice& choice);

}  // namespace tare::reader

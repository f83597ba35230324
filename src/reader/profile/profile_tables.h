// The peers and phases of a run: what ranks exchanged with which peers, and what happened in each phase.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reader/model/communicator_info.h"
#include "reader/model/process.h"
#include "reader/profile/wanted.h"
#include "reader/store/function_names.h"

namespace tare::reader {

// Which processes to include, and by what to group beside peers or phases.
struct TablesQuery {
  // Whether to group by this, too.
  bool rank = false;
  bool communicator = false;  // peers only
  Wanted worlds{};
  Wanted ranks{};
  Wanted communicators{};  // peers only; indices in Run::communicators()

  bool operator==(const TablesQuery&) const = default;
  void prepare();  // must be called before wants() and add_peers()
  bool wants(const Process& process) const;
};

// Messages that ranks sent to a peer and received from it, including one-sided transfers to and from its windows.
struct PeerSum {
  int world = 0;
  std::int32_t rank = -1;          // the rank whose peer this is; -1: not grouped by rank
  std::int32_t communicator = -1;  // index in Run::communicators(); -1: not grouped by communicator, or not known
  std::int32_t peer = -1;          // rank in the world; -1: in another world, not known, or the table had no room
  std::uint64_t sent_messages = 0;
  std::uint64_t sent_bytes = 0;
  std::uint64_t received_messages = 0;
  std::uint64_t received_bytes = 0;
  std::uint64_t ranks = 0;    // number of ranks that exchanged messages with the peer
  std::uint64_t process = 0;  // only used by merged(): the process added last
};

// A phase, without the phases nested in it. Times are summed over ranks and threads.
struct PhaseSum {
  int world = 0;
  std::int32_t rank = -1;     // -1: not grouped by rank
  std::int32_t type = -1;     // index in Run::event_types(), which has the name
  bool outside = false;       // no phase, but what lies outside of all phases, in threads that are is_of_rank()
  bool other = false;         // all phases for which the table had no room
  std::uint64_t entries = 0;  // how often the phase began
  std::uint64_t calls = 0;
  std::uint64_t bytes = 0;  // including bytes received by calls that send and receive
  std::int64_t time_ns = 0;
  std::int64_t mpi_ns = 0;  // part of time_ns: in MPI
  std::uint64_t ranks = 0;  // number of ranks that entered the phase
  // Shortest and longest time_ns of one rank; `longest` is the rank with the longest, of several the lowest.
  std::int64_t rank_min_ns = 0;
  std::int64_t rank_max_ns = 0;
  std::int32_t longest = -1;
};

// Appends one row for each entry of a profile. merged() then adds up the rows with equal keys, and sorts them.
void add_peers(std::vector<PeerSum>& sums, const TablesQuery& query, const std::vector<CommunicatorInfo>& communicators,
               const Process& process, const Profile& profile);
void add_phases(std::vector<PhaseSum>& sums, const FunctionNames& functions, const Process& process,
                const Profile& profile);
std::vector<PeerSum> merged(std::vector<PeerSum> sums);
// `rank`: whether to group by rank.
std::vector<PhaseSum> merged(std::vector<PhaseSum> sums, bool rank);

// Warnings about tables that were full, one line for each kind of table. `totals` in the order of `processes`.
std::vector<std::string> full_tables(const std::vector<Process>& processes, const std::vector<Totals>& totals);

}  // namespace tare::reader

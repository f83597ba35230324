// The tables of a run beside its profile: what ranks exchanged with whom, and what happened in each phase.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reader/model/communicator_info.h"
#include "reader/model/process.h"
#include "reader/profile/wanted.h"

namespace tare::reader {

// Of which processes, and what is told apart beside peers or phases.
struct TablesQuery {
  bool rank = false;
  bool communicator = false;  // peers only
  Wanted worlds{};
  Wanted ranks{};
  Wanted communicators{};  // peers only; indices in Run::communicators()

  void prepare();  // before wants() and add_peers()
  bool wants(const Process& process) const;
};

// Messages to a rank and from it, and data put into its windows and got from them.
struct PeerSum {
  int world = 0;
  std::int32_t rank = -1;          // that sent and received them; -1: not told apart
  std::int32_t communicator = -1;  // index in Run::communicators(); -1: not told apart, or not known
  std::int32_t peer = -1;          // rank in the world; -1: of another one, or the table had no room for it
  std::uint64_t sent_messages = 0;
  std::uint64_t sent_bytes = 0;
  std::uint64_t received_messages = 0;
  std::uint64_t received_bytes = 0;
  std::uint64_t ranks = 0;    // how many have exchanged something with it
  std::uint64_t process = 0;  // while they are added up: of the last one
};

// What happened in a phase, in the parts of it that lie in no phase within it. Times of ranks and threads add up.
struct PhaseSum {
  int world = 0;
  std::int32_t rank = -1;  // -1: not told apart
  std::int32_t type = -1;  // index in Run::event_types(): its name
  bool outside = false;    // no phase: what lies outside of all
  bool other = false;      // all phases for which the table had no room
  std::uint64_t entries = 0;
  std::uint64_t calls = 0;
  std::uint64_t bytes = 0;
  std::int64_t time_ns = 0;
  std::int64_t mpi_ns = 0;
  std::uint64_t ranks = 0;  // that have been in it
  // Of these ranks, the least and the longest time in it; of equal ones, `longest` is the lowest.
  std::int64_t rank_min_ns = 0;
  std::int64_t rank_max_ns = 0;
  std::int32_t longest = -1;
};

// Appends what a profile of the process has; merged() makes one row of those that are told apart by nothing.
void add_peers(std::vector<PeerSum>& sums, const TablesQuery& query, const std::vector<CommunicatorInfo>& communicators,
               const Process& process, const Profile& profile);
void add_phases(std::vector<PhaseSum>& sums, const Process& process, const Profile& profile);
std::vector<PeerSum> merged(std::vector<PeerSum> sums);
// `rank`: whether ranks are told apart.
std::vector<PhaseSum> merged(std::vector<PhaseSum> sums, bool rank);

// What is to be said of tables that were full: a line for each kind. `totals` in the order of `processes`.
std::vector<std::string> full_tables(const std::vector<Process>& processes, const std::vector<Totals>& totals);

}  // namespace tare::reader

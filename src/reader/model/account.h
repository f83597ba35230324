// What measuring a process cost it, and where its time went.
#pragma once

#include <cstdint>
#include <optional>

#include "reader/model/process.h"

namespace tare::reader {

// The cost account of a process: what measuring cost it, and the times that the cost is compared with.
struct Account {
  std::int64_t start_ns = 0;    // Unix time of the first call that tare saw
  std::int64_t wall_ns = 0;     // from then to the end of the process
  std::int64_t net_ns = 0;      // from the end of MPI_Init to the begin of MPI_Finalize; without MPI, its lifetime
  std::int64_t threads_ns = 0;  // net time of all threads that call MPI, without that of calls that were only counted
  // Net time of all threads that recorded anything; their lifetime where they also record what is outside it: calls of
  // other sources than MPI, samples of stacks. Of threads that are not of the rank, which may be there to wait for
  // work, processor time.
  std::int64_t recorded_ns = 0;
  std::int64_t mpi_ns = 0;      // part of threads_ns: in MPI
  std::int64_t counted_ns = 0;  // part of net_ns: calls were only counted
  // In MPI, in all of the net time of the threads: calls that were only counted are estimated. Nothing: not known, as
  // where half of the 95 % confidence interval is more than 5 % of that time.
  std::optional<std::int64_t> whole_mpi_ns = 0;
  std::int64_t unreturned_ns = 0;  // part of mpi_ns: in calls that have not returned, as of a running or killed process
  std::int64_t wrapper_ns = 0;     // cost of all wrappers and events of the API, estimated from weighed calls
  double wrapper_error_ns = 0;     // half the width of its 95 % confidence interval; NaN: not known
  std::uint64_t weighed = 0;       // number of weighed calls
  double call_ns = 0;              // mean cost of the wrapper of a call
  double timed_call_ns = 0;        // the same of a timed call
  std::int64_t hook_init_ns = 0;
  std::int64_t hook_finalize_ns = 0;
  std::int64_t chooser_ns = 0;       // in the user's chooser of sampled messages,
  std::int64_t analysis_ns = 0;      // and in the user's analysis of them
  std::int64_t reading_ns = 0;       // readings of how threads are scheduled
  std::int64_t stack_ns = 0;         // samples of stacks
  std::int64_t flush_ns = 0;         // drains by the threads themselves
  std::int64_t offload_ns = 0;       // offloads to the monitor, waiting included
  std::int64_t offload_max_ns = 0;   // of the longest one
  std::int64_t offload_wait_ns = 0;  // part of offload_ns
  std::int64_t drain_ns = 0;         // drains by the node's tared, on another processor; not in net_share
  double spent_ns = 0;               // by wrappers, readings, flushes, offloads and the user's code, of all threads
  // Part of recorded_ns: without the first thread.
  std::int64_t other_recorded_ns = 0;
  double net_share = 0;  // spent_ns / recorded_ns, at most 1
};
// `totals`: over all locations of the process.
Account account_of(const Process& process, const Totals& totals);
// whole_mpi_ns as a share of the net time of the threads that call MPI, at most 1; 0 if there is no such time.
std::optional<double> mpi_share(const Account& account);

}  // namespace tare::reader

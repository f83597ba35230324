// Sums of the cost accounts and of the traces of several processes.
#pragma once

#include <cstdint>
#include <optional>

#include "format/ring.h"
#include "reader/model/account.h"
#include "reader/model/process.h"

namespace tare::reader {

// The cost account of a run. Fields are sums over the processes if nothing else is said; Account explains them.
struct TotalCost {
  std::uint64_t calls = 0;    // all calls
  std::uint64_t counted = 0;  // part of `calls`: only counted, and not timed
  double call_ns = 0;         // mean cost of a call
  double timed_call_ns = 0;   // mean cost of a timed call
  double lookup_ns = 0;       // cost of a call that is only counted: mean over the processes
  double event_ns = 0;        // cost of an event of the API: the largest of all processes
  std::uint64_t own_events = 0;
  std::int64_t wrapper_ns = 0;
  std::optional<double> wrapper_error_ns;  // half the 95 % confidence interval; nothing: not known of all processes
  std::uint64_t weighed = 0;
  std::int64_t recorded_ns = 0;  // time of the threads that recorded anything (Account)
  double net_share = 0;          // share of it that measuring took
  double wall_share = 0;         // the same of the wall time; time of tare in MPI_Init and MPI_Finalize included
  std::int64_t hook_init_ns = 0;
  std::int64_t hook_finalize_ns = 0;
  std::int64_t chooser_ns = 0;
  std::int64_t analysis_ns = 0;
  std::uint64_t readings = 0;
  std::int64_t reading_ns = 0;
  std::uint64_t stack_samples = 0;
  std::int64_t stack_ns = 0;
  std::uint64_t flushes = 0;
  std::int64_t flush_ns = 0;
  std::uint64_t flush_bytes = 0;
  std::uint64_t drains = 0;
  std::int64_t drain_ns = 0;
  std::uint64_t drain_bytes = 0;
  std::uint64_t offload_points = 0;
  std::uint64_t offloads = 0;
  std::uint64_t offloads_lost = 0;
  std::int64_t offload_ns = 0;
  std::int64_t offload_max_ns = 0;  // the longest of all processes
  std::int64_t offload_wait_ns = 0;
  std::uint64_t dropped = 0;
};

// Sums over the traces of a run.
struct TotalTrace {
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;
  std::uint64_t dropped = 0;
  std::uint64_t overwritten_bytes = 0;
  std::optional<format::Policy> policy;  // of the event buffers of the first process; nothing: it did not trace
  bool kept_newest = false;              // a process could not write a buffer (format::kept_newest)
  bool no_space = false;                 // because there was no space left
  bool written = true;                   // false: a process did not write its events (format::not_written)
};

// Adds up one process after another.
class CostSums {
 public:
  // `account`: account_of(process, totals).
  void add(const Process& process, const Totals& totals, const Account& account);
  void add(const Process& process, const Totals& totals) { add(process, totals, account_of(process, totals)); }
  TotalCost cost() const;
  const TotalTrace& trace() const { return trace_; }

 private:
  TotalCost sums_;  // cost() computes the means and shares
  TotalTrace trace_;
  std::uint64_t processes_ = 0;
  std::uint64_t with_error_ = 0;
  long double squared_errors_ = 0;
  double calls_ns_ = 0, timed_calls_ns_ = 0, spent_ns_ = 0;
  std::int64_t wall_ns_ = 0;  // of all threads that recorded anything
};

}  // namespace tare::reader

// The cost accounts and the traces of several processes, added up.
#pragma once

#include <cstdint>
#include <optional>

#include "reader/model/process.h"

namespace tare::reader {

// Sums, if nothing else is said.
struct TotalCost {
  std::uint64_t calls = 0;
  std::uint64_t lookups = 0;
  double call_ns = 0;    // mean cost of a timed call
  double lookup_ns = 0;  // mean over the processes
  double event_ns = 0;   // the largest
  std::uint64_t events = 0;
  std::int64_t wrapper_ns = 0;
  std::optional<double> wrapper_error_ns;  // half of the 95 % confidence interval; none: not known of all
  std::uint64_t weighed = 0;
  double net_share = 0;   // in the net time, weighted by net time
  double wall_share = 0;  // hooks included, from the first MPI call to the end
  std::int64_t hook_init_ns = 0;
  std::int64_t hook_finalize_ns = 0;
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
  std::int64_t offload_max_ns = 0;  // the longest
  std::int64_t offload_wait_ns = 0;
  std::uint64_t dropped = 0;
};

struct TotalTrace {
  std::uint64_t events = 0;
  std::uint64_t bytes = 0;
  std::uint64_t dropped = 0;
  std::uint64_t overwritten_bytes = 0;
  const format::ProcessRecord* first = nullptr;  // whose policy is that of the run
  bool kept_newest = false;                      // of any process, as the next
  bool no_space = false;
  bool written = true;  // of all
};

// Takes one process after another; they must outlive the object.
class CostSums {
 public:
  void add(const Process& process, const Totals& totals);
  TotalCost cost() const;
  const TotalTrace& trace() const { return trace_; }

 private:
  TotalCost sums_;  // means and shares are made at the end
  TotalTrace trace_;
  std::uint64_t processes_ = 0;
  std::uint64_t with_error_ = 0;
  long double squared_errors_ = 0;
  double calls_ns_ = 0, spent_ns_ = 0;
  std::int64_t net_ns_ = 0, wall_ns_ = 0;
};

}  // namespace tare::reader

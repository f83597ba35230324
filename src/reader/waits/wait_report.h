// A report on waiting in a traced run: sums of wait states, delays and the critical path. Also the table of all wait
// states.
#pragma once

#include <cstdint>
#include <vector>

#include "reader/run/run.h"
#include "reader/waits/critical_path.h"

namespace tare::reader {

// The wait states of one kind in the calls of a rank of one function at one site.
struct WaitSum {
  std::int32_t world = 0, rank = -1;
  WaitKind kind = WaitKind::late_sender;
  std::uint16_t function = 0;
  std::int32_t site = -1;
  std::uint64_t waits = 0;
  std::int64_t wait_ns = 0, longest_ns = 0;
};

// The wait states of one kind in the calls of one function at one site, summed over the ranks that waited. They are
// grouped by the call that they waited for and the activity that delayed this call most.
struct WaitCauseSum {
  std::int32_t world = 0, cause_rank = -1;
  WaitKind kind = WaitKind::late_sender;
  std::uint16_t function = 0, cause_function = 0;
  std::int32_t site = -1, cause_site = -1;
  SiteActivity delay{};  // its site is -1 if no delay was found
  std::uint64_t waits = 0;
  std::int64_t wait_ns = 0, delay_ns = 0, passed_on_ns = 0;
};

struct WaitReport {
  std::vector<WaitSum> waits;  // here and below: largest first
  std::vector<WaitCauseSum> causes;
  std::vector<DelaySum> delays;
  std::vector<PathSum> critical_path;
  std::vector<ClockViolation> violations;
  std::vector<std::string> warnings;
};

// Reads the trace twice.
Result<WaitReport> wait_report(Run& run);

}  // namespace tare::reader

// All that is known of waiting in a traced run, in sums; and the wait states one by one, as a table.
#pragma once

#include <cstdint>
#include <vector>

#include "reader/matching/match_tables.h"
#include "reader/waits/critical_path.h"

namespace tare::reader {

// Wait states of one kind, in the calls of one function and site of a rank.
struct WaitSum {
  std::int32_t world = 0, rank = -1;
  WaitKind kind = WaitKind::late_sender;
  std::uint16_t function = 0;
  std::int32_t site = -1;
  std::uint64_t waits = 0;
  std::int64_t wait_ns = 0, longest_ns = 0;
};

// Wait states of one kind in the calls of one function and site, by the call that they waited for and the activity that
// delayed that call most; over all ranks that waited.
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
  std::vector<WaitSum> waits;  // largest first, as all
  std::vector<WaitCauseSum> causes;
  std::vector<DelaySum> delays;
  std::vector<PathSum> critical_path;
  std::vector<ClockViolation> violations;
  std::vector<std::string> warnings;
};

// Reads the trace twice.
Result<WaitReport> wait_report(Run& run);

// One row for each wait state; docs/tables.md has the columns.
Result<TableStream> wait_table(Run& run);

}  // namespace tare::reader

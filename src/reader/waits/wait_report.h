// A report on waiting in a traced run: sums of wait states, their causes and the critical path. Also the table of all
// wait states.
#pragma once

#include <array>
#include <cstdint>
#include <string>
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
  std::int64_t longest_start_ns = 0;  // Unix time
  std::uint32_t longest_thread = 0;   // in which it was
};

// The wait states of one kind in the calls of one function at one site, by the rank that they waited for.
struct AwaitedSum {
  std::int32_t world = 0, rank = -1;
  WaitKind kind = WaitKind::late_sender;
  std::uint16_t function = 0;
  std::int32_t site = -1;
  std::int64_t wait_ns = 0;
};

// The part of these wait states that an activity of a rank is the root cause of. Each nanosecond of a wait is in one of
// them.
struct RootSum {
  static constexpr std::size_t parts = 8;

  std::int32_t world = 0;
  WaitKind kind = WaitKind::late_sender;
  std::uint16_t function = 0;
  std::int32_t site = -1;
  std::int32_t cause_rank = -1;  // -1: not explained
  SiteActivity activity;
  std::uint16_t cause_function = 0;  // that is called there
  std::uint64_t waits = 0;           // of which this is a cause
  double wait_ns = 0, longest_ns = 0;
  // In each of these parts of the run, which are equally long: wait_ns; and the number of waits, of which each counts
  // by the part of it that this is the cause of.
  std::array<double, parts> by_time{}, waits_by_time{};
  std::vector<double> by_rank;  // wait_ns of each rank, up to the last that waited
};

// The time of a rank outside MPI before the calls at a site.
struct OutsideSum {
  std::int32_t world = 0, rank = -1, site = -1;
  std::uint16_t function = 0;
  std::int64_t time_ns = 0;
  std::int64_t descheduled_ns = 0, blocked_ns = 0;  // parts of it
  std::int64_t descheduled_in_calls_ns = 0;         // of the calls: time in which it waited for a processor alone
};

struct WaitReport {
  std::vector<WaitSum> waits;  // here and below: largest first
  std::vector<AwaitedSum> awaited;
  std::vector<RootSum> causes;
  std::vector<WrongOrder> wrong_order;
  std::vector<UnexpectedSum> unexpected;
  std::vector<OutsideSum> outside;  // by rank and site
  std::vector<PathSum> critical_path;
  std::vector<ClockViolation> violations;
  std::vector<std::string> warnings;
};

// Reads the trace twice; three times if it shows only at its end which sends are eager.
Result<WaitReport> wait_report(Run& run);

}  // namespace tare::reader

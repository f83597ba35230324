// Wait states: time in an MPI call in which a rank waited for another rank. docs/analyses.md defines them.
#pragma once

#include <cstdint>
#include <vector>

#include "reader/matching/message.h"

namespace tare::reader {

enum class WaitKind : std::uint8_t {
  late_sender,
  late_receiver,
  wait_at_barrier,
  wait_at_n_to_n,
  late_broadcast,
  early_reduce,
  early_scan,
  late_post,
  early_wait,
  late_complete,
  lock_contention,
  wait_for_progress,
};
inline constexpr const char* wait_kind_names[] = {
    "late sender", "late receiver", "wait at barrier", "wait at NxN",   "late broadcast",  "early reduce",
    "early scan",  "late post",     "early wait",      "late complete", "lock contention", "wait for progress"};

// Whether a thread was on a processor; if not, whether it could have run, or slept, waited in the kernel or was
// stopped.
enum class Scheduled : std::uint8_t { running, descheduled, blocked };
constexpr const char* name_of(Scheduled scheduled) {
  constexpr const char* names[] = {"running", "descheduled", "blocked"};
  return names[static_cast<unsigned>(scheduled)];
}

// Where a rank spent time: in the calls of a site, or outside MPI between the previous call and these calls.
struct SiteActivity {
  std::int32_t site = -1;                    // index in Run::sites()
  bool in_call = false;                      // true: in the calls, except for waiting
  Scheduled scheduled = Scheduled::running;  // in calls: this, or descheduled
  bool operator==(const SiteActivity&) const = default;
};

// What made a rank wait in the end: an activity of a rank that waited for nobody meanwhile.
struct RootCause {
  std::int32_t rank = -1;
  SiteActivity activity;
  double share = 0;  // of the wait
};

struct WaitState {
  WaitKind kind = WaitKind::late_sender;
  std::int32_t world = 0, rank = -1, communicator = -1;
  PartCall call;             // the call that waited; several polls in a row are one call
  std::int64_t wait_ns = 0;  // from the start of the call
  std::int32_t cause_rank = -1;
  PartCall cause;  // the call that it waited for
  // The wait is divided into two parts. delay_ns is due to activities in which the cause spent more time than this rank
  // since the two last synchronised; `delay` is the one with the most time, longest_delay_ns. passed_on_ns is due to
  // waits of the cause itself. If it is not known what the cause did, their sum is less than the wait.
  std::int64_t delay_ns = 0, passed_on_ns = 0;
  SiteActivity delay{};
  std::int64_t longest_delay_ns = 0;
  // The delays, and in the place of the part that was passed on its own causes, the largest first. What their shares
  // lack of 1 is not explained.
  std::vector<RootCause> roots{};
};

// Messages between two ranks that seem to have been received before they were sent.
struct ClockViolation {
  std::int32_t world = 0, source = -1, destination = -1;
  std::uint64_t messages = 0;
  std::int64_t most_ns = 0;  // the clock of the receiver is behind that of the sender by at least this
};

}  // namespace tare::reader

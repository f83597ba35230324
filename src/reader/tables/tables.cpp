#include "reader/tables/tables.h"

#include "reader/matching/match_tables.h"
#include "reader/matching/request_table.h"
#include "reader/tables/event_kinds.h"
#include "reader/tables/process_tables.h"
#include "reader/tables/profile_table.h"
#include "reader/tables/round_tables.h"
#include "reader/tables/row_tables.h"
#include "reader/tables/site_tables.h"
#include "reader/tables/structure_tables.h"
#include "reader/waits/wait_report.h"

namespace tare::reader {
namespace {

constexpr TableKind kinds[] = {
    {"profile", "calls of a call site, communicator and size", profile_table},
    {"ranks", "a process", rank_table},
    {"locations", "a thread with its buffer", location_table},
    {"callsites", "a call path", callsite_table},
    {"communicators", "a communicator", communicator_table},
    {"peers", "two ranks that exchanged messages", peer_table},
    {"phases", "a phase on a rank", phase_table},
    {"totals", "a function on a rank, over the whole run", total_table},
    {"site_totals", "a function at a call site on a rank, over the whole run", site_total_table},
    {"samples", "a class of sampled messages", sample_table},
    {"sample_histograms", "a bin of the latencies of a class of sampled messages", sample_histogram_table},
    {"rounds", "a metric of an event in a round (--monitor)", round_table},
    {"reductions", "what a filter other than statistics made of an event in a round (--monitor)", reduction_table},
    {"events", "a call, or an event of the program (trace)", event_table},
    {"calls", "a call (trace)", call_table},
    {"messages", "a message, with both ends (trace)", message_table},
    {"collectives", "a rank's part in a collective operation (trace)", collective_table},
    {"requests", "a request, with the calls that started and completed it (trace)", request_table},
    {"waits", "a wait state (trace)", wait_table},
    {"detected_phases", "a stretch of time in which the ranks do alike (trace)", detected_phase_table},
    {"iterations", "an iteration of a rank in a detected phase (trace)", iteration_table},
    {"clock_violations", "two ranks whose clocks disagree (trace)", clock_violation_table},
    {"flushes", "a write of an event buffer, or records lost (trace)", flush_table},
};

}  // namespace

std::span<const TableKind> table_kinds() { return kinds; }

const TableKind* find_table(std::string_view name) {
  for (const TableKind& kind : kinds)
    if (kind.name == name) return &kind;
  return nullptr;
}

}  // namespace tare::reader

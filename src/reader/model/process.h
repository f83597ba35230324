// Everything that a run holds about one process.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "format/offload_ring.h"
#include "format/segment.h"
#include "format/spell_sums.h"
#include "reader/model/clock_map.h"
#include "reader/model/definitions.h"
#include "reader/model/number_map.h"
#include "reader/model/time_map.h"
#include "reader/model/weight.h"
#include "reader/store/chunk_scan.h"
#include "reader/store/function_names.h"
#include "reader/store/profile.h"
#include "reader/store/samples.h"
#include "reader/store/segment_file.h"
#include "reader/time_arithmetic.h"

namespace tare::reader {

// How a process has ended, or that it is running. `exited`: it has ended without MPI_Finalize.
enum class State { running, finished, exited, aborted, killed };
const char* name_of(State state);
// The first line of the MPI library's version text.
std::string_view mpi_library_of(const format::ProcessRecord& record);

// Records that were in a buffer when the run was opened.
struct Buffered {
  std::uint32_t sequence = 0;  // of the event chunk that they begin
  std::uint64_t records = 0;
};

struct Process {
  std::uint64_t id = 0;
  format::ProcessRecord record{};
  Definitions definitions;  // of a process that has a segment, else empty: what they say is in the next maps
  ProfileSources profiles;
  SampleSource samples;
  std::vector<format::SpellSums> spell_sums;  // of the first thread, by function and call site; of a trial or a budget
  format::OffloadAccount offloads{};          // of a run that is monitored
  std::vector<ChunkRef> events;               // on disk
  std::vector<format::ClockPair> clock_pairs;
  std::uint64_t last_seen = 0;                 // when its last call began, in ticks; known from a segment
  std::map<std::uint32_t, Buffered> buffered;  // of the segment, by location block
  std::vector<format::ThreadCall> calls;       // the calls that its threads are in, or were in at its end, if known
  std::vector<format::RequestEntry> requests;  // under way
  const FunctionNames::Map* functions = nullptr;
  std::optional<SegmentFile> segment;

  // Found when everything has been read:
  State state = State::killed;
  bool stopped = false;  // running, but stopped by a signal or a debugger
  int world = 0;
  std::uint64_t end = 0;  // when it ended, or now, in ticks
  ClockMap clock;
  NumberMap sites, event_types;
  NumberMap communicators;  // also from windows and files, to their communicators
  NumberMap scopes;
  std::map<std::uint32_t, Spell> spells;              // of a trial or a budget, by number
  std::map<std::uint32_t, std::string> thread_names;  // by number of the thread, where there is one

  // Where the times of its events are moved to, if they are moved (Run::move_times).
  std::shared_ptr<const TimeMaps> moved{};

  // As recorded.
  std::int64_t time_of(std::uint64_t disk_ticks) const { return clock.unix_ns(disk_ticks << shift()); }
  // Of a flush or a loss, in ns, from the times of both ends: a gap of milliseconds ends when the spell behind it
  // begins, also where the clock's rate differs from its mean.
  std::int64_t span_ns(std::uint64_t enter, std::uint64_t leave) const {
    return leave > enter ? difference(time_of(leave), time_of(enter)) : 0;
  }
  // Of events of a thread, where they are to be shown.
  std::int64_t shown(std::uint32_t thread, std::int64_t ns) const { return moved ? moved->of(thread)(ns) : ns; }
  // Moves spans of a thread.
  void move(std::uint32_t thread, std::int64_t* start_ns, std::int64_t* duration_ns, std::size_t count) const {
    if (!moved) return;
    const TimeMap& map = moved->of(thread);
    for (std::size_t i = 0; i < count; ++i) {
      const std::int64_t end_ns = map(sum(start_ns[i], duration_ns[i]));
      start_ns[i] = map(start_ns[i]);
      duration_ns[i] = difference(end_ns, start_ns[i]);
    }
  }
  unsigned shift() const { return record.tick_shift & 63U; }
  // Whether several threads may call MPI, so that one may complete another's request.
  bool may_hand_over() const {
    constexpr std::uint8_t serialized = 2;
    return record.thread_level >= serialized || (record.flags & format::sessions) != 0;
  }
};

// Sums over the locations of a process, or over one. Those up to net_ticks are from its profiles.
struct Totals {
  std::uint64_t calls = 0;
  std::uint64_t estimated = 0;  // of the calls: polls whose time was not measured
  WeighedTotals weighed;        // without MPI_Init and MPI_Finalize
  std::uint64_t lookups = 0;
  std::uint64_t dropped = 0;  // records lost
  std::uint64_t flushes = 0;
  std::uint64_t flush_ticks = 0;
  std::uint64_t flush_bytes = 0;
  format::TaredTotals tared{};  // what the node's tared drained
  std::uint64_t overwritten_bytes = 0;
  std::uint32_t full = 0;          // format::FullTables: tables of its threads that had no room
  std::uint64_t net_ticks = 0;     // in MPI, without MPI_Init and MPI_Finalize
  std::uint64_t other_ticks = 0;   // life of threads that call MPI, except for the first
  std::uint64_t events = 0;        // calls, completions and events of the API that can be read
  std::uint64_t api_events = 0;    // recorded, also if they were dropped or overwritten then
  std::uint64_t stored_bytes = 0;  // of event chunks on disk
};
// Adds a profile. `outside_net`: by function number, true for MPI_Init and MPI_Finalize.
void add_profile(Totals& totals, const Process& process, const Profile& profile, const std::vector<bool>& outside_net);
// The life of the threads that had a location in turn, as far as it is net time; 0 if they never called MPI.
std::uint64_t life_of_threads(const Process& process, const Profile& profile);
void add_totals(Totals& to, const Totals& from);
std::vector<bool> outside_net_time(const FunctionNames& names);

// What measuring cost a process, and the times that it is compared with.
struct Account {
  std::int64_t start_ns = 0;  // unix
  std::int64_t wall_ns = 0;
  std::int64_t net_ns = 0;
  std::int64_t threads_ns = 0;     // the same of all threads that call MPI together, without what was only counted
  std::int64_t mpi_ns = 0;         // of threads_ns
  std::int64_t unreturned_ns = 0;  // part of mpi_ns: in calls that have not returned, of a running or killed process
  std::int64_t wrapper_ns = 0;     // estimated from the calls that were weighed
  double wrapper_error_ns = 0;     // half the width of its interval of 95 %; NaN: not known
  std::uint64_t weighed = 0;       // calls
  double call_ns = 0;              // the mean of the calls that are timed
  std::int64_t hook_init_ns = 0;
  std::int64_t hook_finalize_ns = 0;
  std::int64_t flush_ns = 0;
  std::int64_t offload_ns = 0;       // offloads to the monitor, waiting included
  std::int64_t offload_max_ns = 0;   // of the longest one
  std::int64_t offload_wait_ns = 0;  // of offload_ns
  std::int64_t drain_ns = 0;         // drains by the node's tared, on another processor; no part of the process's cost
  double net_share = 0;              // tare's share of net_ns; threads add up
};
Account account_of(const Process& process, const Totals& totals);
// Time in MPI as a share of the net time of threads that call MPI; 0 if there are none.
double mpi_share(const Account& account);

// The latest time, in ticks, at which the records of a process show that it was running.
std::uint64_t last_evidence(const Process& process);

// Assigns every process to a world, one MPI_COMM_WORLD each, and sorts processes by (world, rank). A run may start
// several worlds. Processes that were not spawned, in the order of their start, each go to the earliest world of their
// size that lacks their rank. Then spawned processes go to worlds of their own.
void assign_worlds(std::vector<Process*>& processes);

}  // namespace tare::reader

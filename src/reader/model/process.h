// Everything that a run holds about one process.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
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
#include "reader/store/file_table.h"
#include "reader/store/function_names.h"
#include "reader/store/profile.h"
#include "reader/store/samples.h"
#include "reader/store/scheduling.h"
#include "reader/store/segment_file.h"
#include "reader/store/stack_samples.h"
#include "reader/time_arithmetic.h"

namespace tare::reader {

// Whether a process is running or how it has ended. `exited`: it called exit() or _exit() without MPI_Finalize.
// `unknown`: it has not recorded its end, and nothing here tells whether it runs.
enum class State { running, finished, exited, aborted, killed, unknown };
const char* name_of(State state);
// The first line of what MPI_Get_library_version returned.
std::string_view mpi_library_of(const format::ProcessRecord& record);

// Records that were in an event buffer when the run was opened.
struct Buffered {
  std::uint32_t sequence = 0;  // number of the event chunk that will begin with them
  std::uint64_t records = 0;
};

struct Process {
  std::uint64_t id = 0;
  format::ProcessRecord record{};
  Definitions definitions;  // only of a process with a segment; otherwise only the maps below have what they say
  ProfileSources profiles;
  SampleSource samples;
  PayloadSource scheduling;
  PayloadSource stacks;
  PayloadSource files;
  const ChunkRef* analysis = nullptr;  // the result of the user's analysis of them, of Run::files(); nullptr: none
  std::vector<format::SpellSums> spell_sums;  // of the first thread; empty without --weigh and --budget
  format::OffloadAccount offloads{};          // zero without --monitor
  std::vector<ChunkRef> events;               // event chunks on disk
  std::vector<format::ClockPair> clock_pairs;
  std::uint64_t last_seen = 0;                 // when its last call began, in ticks; 0 without a segment
  std::map<std::uint32_t, Buffered> buffered;  // records in the segment, by location block
  std::vector<format::ThreadCall> calls;       // calls that its threads are in, or were in at its end, if known
  std::vector<format::RequestEntry> requests;  // requests that have not completed
  const FunctionNames::Map* functions = nullptr;
  std::optional<SegmentFile> segment;

  // Set after everything has been read:
  State state = State::killed;
  bool stopped = false;     // running, but stopped by a signal or a debugger
  bool has_results = true;  // false: they are elsewhere (missing_ranks.h)
  int world = 0;
  std::uint64_t end = 0;  // in ticks: when it ended, or, if it is running, when the run was opened
  ClockMap clock;
  // From the numbers of the process to indices in Run::sites() and so on:
  NumberMap sites, event_types;
  NumberMap communicators;  // a number of a window or a file gives its communicator
  NumberMap scopes;
  std::map<std::uint32_t, Spell> spells;              // by number; empty without --weigh and --budget
  std::map<std::uint32_t, std::string> thread_names;  // by number of the thread; only of threads with a name
  std::map<std::uint32_t, Members> epoch_groups;      // by number, as the calls that begin epochs have it
  std::string long_executable;                        // empty if the path fits into the record

  // How the times of its events are moved; null if they are not (Run::move_times).
  std::shared_ptr<const TimeMaps> moved{};

  // Unix time in ns, as recorded, which no TimeMap has moved.
  std::int64_t time_of(std::uint64_t disk_ticks) const { return clock.unix_ns(disk_ticks << shift()); }
  // The duration of a flush or a loss in ns. It is computed from the times of both ends, and not with the mean rate of
  // the clock, so that a gap ends exactly when the next spell begins.
  std::int64_t span_ns(std::uint64_t enter, std::uint64_t leave) const {
    return leave > enter ? difference(time_of(leave), time_of(enter)) : 0;
  }
  // The time of an event of a thread after it was moved.
  std::int64_t shown(std::uint32_t thread, std::int64_t ns) const { return moved ? moved->of(thread)(ns) : ns; }
  // Both ends of a spell, in such times. If it has not finished, its end is its begin.
  std::int64_t begin_of(const Spell& spell) const { return shown(0, time_of(spell.begin >> shift())); }
  std::int64_t end_of(const Spell& spell) const { return shown(0, time_of((spell.begin + spell.ticks) >> shift())); }
  // Since when not all of its communication is recorded (ProcessRecord::callbacks_since), in such times; INT64_MAX if
  // it is.
  std::int64_t incomplete_since() const {
    return record.callbacks_since == 0 ? INT64_MAX : shown(0, time_of(record.callbacks_since >> shift()));
  }
  // Moves both ends of `count` spans of a thread, in place.
  void move(std::uint32_t thread, std::int64_t* start_ns, std::int64_t* duration_ns, std::size_t count) const {
    if (!moved) return;
    const TimeMap& map = moved->of(thread);
    for (std::size_t i = 0; i < count; ++i) {
      const std::int64_t end_ns = map(sum(start_ns[i], duration_ns[i]));
      start_ns[i] = map(start_ns[i]);
      duration_ns[i] = difference(end_ns, start_ns[i]);
    }
  }
  // The path of its executable.
  std::string_view executable() const {
    return long_executable.empty() ? std::string_view(record.executable) : std::string_view(long_executable);
  }
  unsigned shift() const { return record.tick_shift & 63U; }
  // Whether several threads may call MPI, so that one may complete another's request.
  bool may_hand_over() const {
    constexpr std::uint8_t serialized = 2;
    return record.thread_level >= serialized || (record.flags & format::sessions) != 0;
  }
};

// The calls of a function in the net time of a process where some were only counted.
struct MeasuredAndCounted {
  std::uint64_t measured = 0, counted = 0;
  std::uint64_t ticks = 0;  // of the measured ones
};

// Sums over one location of a process, or over all of them. `records` and `stored_bytes` come from the trace, the
// others from the profiles.
struct Totals {
  std::uint64_t calls = 0;
  std::uint64_t estimated = 0;  // part of `calls`: their time was not measured, but estimated
  WeighedTotals weighed;        // without MPI_Init and MPI_Finalize
  std::uint64_t counted = 0;    // calls that were only counted, such as MPI_Comm_rank
  std::uint64_t dropped = 0;    // records that found no room
  std::uint64_t flushes = 0;    // drains by the thread itself
  std::uint64_t flush_ticks = 0;
  std::uint64_t flush_bytes = 0;
  format::TaredTotals tared{};  // drains by the node's tared
  std::uint64_t overwritten_bytes = 0;
  std::uint32_t full = 0;         // format::FullTables: tables that had no room left
  bool beyond_net = false;        // there were calls outside the net time, too: of other sources
  std::uint64_t net_ticks = 0;    // in MPI, without MPI_Init and MPI_Finalize
  std::uint64_t other_ticks = 0;  // lifetime of the threads that call MPI, except for the first of them
  // Time of the threads that record anything (calls, events of the API, or samples of their stacks), except for the
  // first one of the rank.
  std::int64_t other_recorded_ns = 0;
  std::uint64_t records = 0;            // calls, completions and events of the API that can be read
  std::uint64_t api_events = 0;         // events of the API, also those that were dropped or overwritten
  std::uint64_t stored_bytes = 0;       // of event chunks on disk
  format::SchedulingSums scheduling{};  // without `block`, `spans` and `shortest_ns`
  std::uint64_t stack_samples = 0;
  std::uint64_t stack_ticks = 0;                            // that taking them took
  std::map<std::uint16_t, MeasuredAndCounted> by_function;  // where calls were only counted for some of the time
};
// Whether calls were only counted for some of the time; look-ups always are.
bool counts_some_of_the_time(const Process& process);
// Adds a profile of the process. `outside_net`: outside_net_time().
void add_profile(Totals& totals, const Process& process, const Profile& profile, const std::vector<bool>& outside_net);
// Whether the time of the thread of a profile is time of the rank: the thread calls MPI. Without MPI, it is the first
// one. Others may be there to wait, as helper threads of a library are.
bool is_of_rank(const Process& process, const Profile& profile, const FunctionNames& names);
// Adds the readings of a location.
void add_scheduling(Totals& totals, const format::SchedulingSums& sums);
// The time of the threads that used a location one after another.
struct TimeOfThreads {
  std::uint64_t mpi_ticks = 0;  // lifetime of those that call MPI, at most the net time of the process
  // Lifetime of those that record anything: at most the net time, or the lifetime of the process if they also record
  // outside it.
  std::uint64_t recorded_ticks = 0;
  std::int64_t sampled_ns = 0;  // their processor time, as samples of their stacks tell
  bool is_of_rank = false;      // of one of them: is_of_rank()
};
// Adds a thread. `sampled_ns`: of its samples; 0: there are none.
void add_thread(TimeOfThreads& to, const Process& process, const Profile& profile, const std::vector<bool>& outside_net,
                std::int64_t sampled_ns);
// Adds the time of the threads of a location that has not the first thread of the rank. Those that are not of the rank
// may be there to wait for work, so they count with the processor time that readings (`scheduling`; nullptr: there are
// none) or samples tell, and with their lifetime only where neither does, as in runs of earlier versions.
void add_other_threads(Totals& totals, const Process& process, const TimeOfThreads& threads,
                       const format::SchedulingSums* scheduling);
void add_totals(Totals& to, const Totals& from);
// By function number: true for MPI_Init, MPI_Finalize and their variants, and for functions of other sources than MPI,
// whose time is no net time in MPI.
std::vector<bool> outside_net_time(const FunctionNames& names);

// In ticks: when the process began, at its first call or, without MPI, before its main; and from the end of MPI_Init to
// the begin of MPI_Finalize, or to the end of a process that did not come so far. The whole lifetime if the process
// calls neither.
std::uint64_t begin_ticks(const Process& process);
std::uint64_t life_ticks(const Process& process);  // from then to its end
std::uint64_t net_ticks(const Process& process);

// The latest time, in ticks, at which the records of a process show that it was running.
std::uint64_t last_evidence(const Process& process);

}  // namespace tare::reader

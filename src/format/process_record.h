// Who a measured process is, how it ended, and what measuring it cost. Part of the segment (segment.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "format/clock_pair.h"

namespace tare::format {

enum class ProcessState : std::uint32_t {
  running = 0,    // in a dead process: it was killed
  finalized = 1,  // has left MPI_Finalize, still alive when this was written
  exited = 2,     // called exit or _exit
  aborted = 3,    // called MPI_Abort
};

enum class Abi : std::uint8_t { none = 0, mpich = 1, openmpi = 2, standard = 3 };

enum ProcessFlags : std::uint32_t {
  traced = 1,                // events were recorded, not the profile alone
  spawned = 2,               // has a parent communicator (MPI_Comm_spawn)
  sessions = 4,              // rank and size come from the session's mpi://WORLD process set
  time_lookups = 8,          // look-up functions were timed, not only counted
  not_written = 16,          // events were recorded and encoded, but not written
  drops = 32,                // a full buffer drops (Policy::drop)
  overwrites = 64,           // a full buffer overwrites the oldest events (Policy::overwrite)
  ended_with_command = 128,  // killed; its collector has set `end` to the time at which the command of `tare run` ended
  end_seen = 256,            // its end was not recorded by itself: `end` is when `tare run` noticed it
  small_buffer = 512,        // for want of memory: event buffers are smaller than asked for,
  no_buffer = 1024,          // no events were recorded, although a trace was asked for,
  small_profile = 2048,      // and there are fewer profile rows and definitions than usual
  found_ended = 4096,        // a collector has found it ended, and written this
  told_living = 8192,        // only in an answer (reader/run/answers.h): it lived then,
  told_stopped = 16384,      // but was stopped by a signal or a debugger
  saved_living = 32768       // a keeper has written this while it ran: what it recorded later is where it ran
};

inline constexpr std::int32_t exit_code_unknown = INT32_MIN;

// Who this process is and what its measurement cost. Also on disk: the payload of a process chunk.
struct ProcessRecord {
  std::uint64_t process;  // unique in the run, on all hosts (recorder/identity.h)
  std::uint32_t pid;
  ProcessState state;
  std::int32_t rank;  // in its MPI_COMM_WORLD; -1 before it is known
  std::int32_t size;
  std::int32_t exit_code;  // exit_code_unknown unless the process called exit; -n: killed by signal n (signal_of)
  std::uint32_t flags;     // ProcessFlags
  Abi abi;
  ClockKind clock;
  std::uint8_t tick_shift;    // times on disk are ticks >> tick_shift
  std::uint8_t thread_level;  // 0 single .. 3 multiple
  std::uint32_t threads;      // locations ever started
  ClockPair clock_start;
  std::uint64_t realtime_start_ns;  // CLOCK_REALTIME at clock_start
  ClockPair clock_last;             // the newest pair; equal to clock_start if there is none yet
  std::uint64_t attach;             // ticks: first call seen
  std::uint64_t init_enter;         // ticks; 0 if it has not happened, here and below
  std::uint64_t init_leave;
  std::uint64_t finalize_enter;
  std::uint64_t finalize_leave;
  std::uint64_t end;             // ticks at exit
  std::uint64_t hook_init;       // ticks spent by tare itself inside MPI_Init (attaching included)
  std::uint64_t hook_finalize;   // and inside MPI_Finalize
  std::uint32_t reserved_call;   // 0; this and the other reserved fields had a meaning in earlier releases
  std::uint32_t lookup_cost_ps;  // calibrated cost of one call that is only counted
  std::uint32_t reserved_completion;
  std::uint32_t untracked_requests;  // requests that did not fit into the request table: their bytes are missing
  std::uint64_t definitions_lost;    // entries that did not fit the definition log
  std::uint32_t event_cost_ps;       // calibrated cost of one event of the API; 0 if there is none
  std::uint32_t unmeasured_threads;  // threads for whose location there was no memory
  std::uint32_t before_attach_us;    // from the load of tare's library, before main, to `attach`; 0: not known
  std::uint32_t left_calls;          // that did not return: left by an exception, by longjmp or with their thread
  char host[64];
  char executable[256];
  char mpi_library[128];
  // Files that were written before these were added end here, or before others below.
  std::uint64_t chooser_ticks;   // in a chooser of the user's for message sampling (src/mpi/sampling/user_code.h),
  std::uint64_t analysis_ticks;  // and in an analysis
  std::uint64_t counted_ticks;   // in which calls of the first thread were only counted (recorder/spells.h), until
  std::uint64_t counted_since;   // then, if they are; 0: they are not
  std::uint32_t failed_calls;    // of MPI, that returned an error
  std::uint32_t failed_communication;  // of these, those that were to communicate
  std::uint32_t pauses;                // how often a thread has ceased to record, because the program asked for it
  std::uint32_t machine;               // of machine_name() (machine.h), the low half; 0: not known
  std::uint64_t callbacks_since;       // ticks: first communication in a callback that MPI ran; 0: none
  std::uint32_t callback_calls;        // calls of such communication: they are part of other calls, and have no records
  std::uint32_t reserved_end;          // 0
};
static_assert(sizeof(ProcessRecord) == 696);
// Of the first of these files.
inline constexpr std::size_t first_process_record_bytes = offsetof(ProcessRecord, chooser_ticks);

// The signal that killed the process, if its collector knows it; else 0.
inline std::int32_t signal_of(const ProcessRecord& process) noexcept {
  return process.exit_code < 0 && process.exit_code != exit_code_unknown ? -process.exit_code : 0;
}

// Whether the calls that its threads were in are of interest, because the process did not end properly.
inline bool ended_early(const ProcessRecord& process) noexcept {
  return process.finalize_leave == 0 ||
         (process.state != ProcessState::exited && process.state != ProcessState::finalized);
}

}  // namespace tare::format

// Layout of the shared-memory segment of a measured process.
//
// A segment is a file (in /dev/shm, or in the run directory where that is too small) mapped by the process
// and readable by anyone with the run's permissions, at any time, also after the process has died: results
// do not depend on a shutdown that may never come. The layout is private to one build of tare: writer and
// collector check `layout`. What reaches the disk is described in docs/format.md; the structs marked "also
// on disk" are written there byte for byte.
//
//   0                 SegmentHeader (4 KiB)
//   definitions_at    definition log, append-only (definition.h)
//   requests_at       RequestTable: the requests under way, if the process calls MPI
//   locations_at      location blocks of `location_stride` bytes: LocationHeader, index, rows, event buffer (ring.h)
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>

#include "format/record.h"
#include "format/ring.h"

namespace tare::format {

inline constexpr std::uint64_t segment_magic = 0x314d474553455241;  // "ARESEGM1"
inline constexpr std::uint32_t segment_layout = 14;

// Beside the segments of a run lies tare-<run id>.step, which its processes on this node share (recorder/step.h).
inline constexpr char step_suffix[] = ".step";
// And tare-<run id>.mail-<node>, if messages are sampled, until all ranks of the node have mapped it.
inline constexpr char mail_suffix[] = ".mail-";

enum class ProcessState : std::uint32_t {
  running = 0,    // found so in a dead process: killed
  finalized = 1,  // has left MPI_Finalize, still alive when this was written
  exited = 2,     // called exit or _exit
  aborted = 3,    // called MPI_Abort
};

enum class Abi : std::uint8_t { none = 0, mpich = 1, openmpi = 2, standard = 3 };
enum class ClockKind : std::uint8_t { monotonic_raw = 0, tsc = 1 };

enum ProcessFlags : std::uint32_t {
  traced = 1,        // events were recorded, not the profile alone
  spawned = 2,       // has a parent communicator (MPI_Comm_spawn)
  sessions = 4,      // rank and size come from the session's mpi://WORLD process set
  time_lookups = 8,  // look-up functions were timed, not only counted
  not_written = 16,  // events were recorded and encoded, but not written
  drops = 32,        // a full buffer drops (Policy::drop)
  overwrites = 64,   // a full buffer overwrites the oldest events (Policy::overwrite)
  ended_with_command =
      128,        // killed; `end` is when the command that `tare run` started had ended, set by its collector
  end_seen = 256  // did not say so itself: `end` is when `tare run` saw it end
};

inline constexpr std::int32_t exit_code_unknown = INT32_MIN;

// A reading of tare's clock beside the kernel's; two of them convert ticks to time.
struct ClockPair {
  std::uint64_t ticks;
  std::uint64_t monotonic_ns;  // CLOCK_MONOTONIC_RAW
};

// The ticks that are `ns` before `end`, at the rate between two clock pairs; 0 if that is not known.
inline std::uint64_t ticks_before(std::uint64_t end, std::uint64_t ns, const ClockPair& from,
                                  const ClockPair& to) noexcept {
  if (to.monotonic_ns <= from.monotonic_ns || to.ticks <= from.ticks) return 0;
  const double per_ns =
      static_cast<double>(to.ticks - from.ticks) / static_cast<double>(to.monotonic_ns - from.monotonic_ns);
  const double ticks = static_cast<double>(ns) * per_ns;
  return ticks < static_cast<double>(end) ? end - static_cast<std::uint64_t>(ticks) : 0;
}

// Who this process is and what its measurement cost. Also on disk: the payload of a process chunk.
struct ProcessRecord {
  std::uint64_t process;  // unique in the run, on whatever host (recorder/identity.h)
  std::uint32_t pid;
  ProcessState state;
  std::int32_t rank;  // in its MPI_COMM_WORLD; -1 before it is known
  std::int32_t size;
  std::int32_t exit_code;  // exit_code_unknown unless the process called exit; -n: signal n killed it (signal_of)
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
  std::uint64_t end;                 // ticks at exit
  std::uint64_t hook_init;           // ticks spent by tare itself inside MPI_Init (attaching included)
  std::uint64_t hook_finalize;       // and inside MPI_Finalize
  std::uint32_t call_cost_ps;        // calibrated cost of one timed call, beyond the bare call
  std::uint32_t lookup_cost_ps;      // and of one counted call
  std::uint32_t completion_cost_ps;  // and of one completed request
  std::uint32_t untracked_requests;  // did not fit the request table: their bytes are missing
  std::uint64_t definitions_lost;    // entries that did not fit the definition log
  std::uint32_t event_cost_ps;       // calibrated cost of one event of the API; 0 if there is none
  std::uint32_t unmeasured_threads;  // for whose location there was no memory
  std::uint32_t poll_cost_ps;        // calibrated cost of one poll whose time is estimated (ProfileRow::estimated)
  std::uint32_t left_calls;          // that did not return: left by an exception, by longjmp or with their thread
  char host[64];
  char executable[256];
  char mpi_library[128];
};
static_assert(sizeof(ProcessRecord) == 632);

// The signal that killed it, where its collector saw that; else 0.
inline std::int32_t signal_of(const ProcessRecord& process) noexcept {
  return process.exit_code < 0 && process.exit_code != exit_code_unknown ? -process.exit_code : 0;
}

// Whether the calls that its threads were in are of interest: it did not come to its proper end.
inline bool ended_early(const ProcessRecord& process) noexcept {
  return process.finalize_leave == 0 ||
         (process.state != ProcessState::exited && process.state != ProcessState::finalized);
}

struct SegmentHeader {
  std::uint64_t magic;
  std::uint32_t layout;
  std::uint32_t functions;  // size of the function table of the writer
  std::uint64_t definitions_at;
  std::uint64_t definitions_capacity;
  std::atomic<std::uint64_t> definitions_bytes;  // published length of the log
  std::uint64_t definitions_written;             // of which on disk already
  std::uint64_t requests_at;                     // 0: there is no request table
  std::uint64_t samples_at;                      // SampleSummary and its classes; 0: messages are not sampled
  std::uint64_t locations_at;
  std::uint64_t location_stride;
  std::atomic<std::uint32_t> locations;  // blocks that exist
  std::uint32_t row_capacity;            // rows per location
  RingShape ring;                        // event buffer per location; without trace of no sub-buffers
  std::uint64_t keep_ns;                 // events older than this at the end are left out; 0: none are
  ProcessRecord process;
};
static_assert(sizeof(SegmentHeader) <= 4096);
inline constexpr std::uint64_t segment_header_bytes = 4096;

// A request under way, as its owner and readers of the segment see it.
struct RequestEntry {
  std::uint64_t handle;   // 0: the entry is free
  std::uint64_t started;  // ticks: enter of the call that started it
  std::uint64_t bytes;    // sent; of a persistent send, at every start
  std::uint32_t id;       // of this request, as handles are used again
  std::uint32_t communicator;
  std::int32_t peer;  // as posted
  std::int32_t tag;
  std::uint32_t site;  // of the call that started it
  // 1 + the block of the thread that waits for it in the MPI_Wait, Waitall, Waitany or Waitsome that is its current
  // call; 0: none.
  std::uint32_t waiter;
  std::uint32_t message;  // number of the sampled message that it is; 0: none
  std::uint32_t block;    // where the row of the call that started it lies
  std::uint16_t row;
  std::uint16_t function;
  // MPI gives requests that are complete at once one handle: how many of this row have it now. Those of other rows have
  // entries of their own.
  std::uint16_t starts;
  std::uint8_t kind;    // RequestKind
  std::uint8_t active;  // 0: persistent, and not started

  bool receives() const noexcept { return (kind & 1U) != 0; }
  bool persistent() const noexcept { return (kind & 2U) != 0; }
  bool exchanges() const noexcept { return (kind & 8U) != 0; }
  bool unrecorded() const noexcept { return (kind & 16U) != 0; }
  bool sends() const noexcept { return (kind & 4U) != 0; }
};
enum RequestKind : std::uint8_t {
  plain_request = 0,
  receive_request = 1,
  persistent_request = 2,
  send_request = 4,        // beside persistent_request: what it starts are messages to `peer`
  exchange_request = 8,    // beside receive_request: sends as well (MPI_Isendrecv)
  unrecorded_request = 16  // started while its thread did not record (MPI_Pcontrol): it has no row
};
static_assert(sizeof(RequestEntry) == 64);

// The requests of a process. Entries lie densely: a free one is used before an untouched one. Number 0 is none.
inline constexpr unsigned request_capacity = 14336;
inline constexpr unsigned request_slots = 32768;
struct RequestTable {
  std::atomic<std::uint32_t> count;  // requests in the table
  std::atomic<std::uint32_t> used;   // entries 1 to this have been in use
  std::uint32_t free;                // the first of a list, which its owner keeps
  std::uint32_t last_id;
  std::uint64_t reserved[6];
  RequestEntry entries[request_capacity];
  std::uint16_t index[request_slots];  // hash table of numbers of entries; 0 = empty
};

// The call that a thread is in, or was in last: then `function` has the bit `returned`. 0 before the first one;
// written last on entry, first on exit.
struct CurrentCall {
  std::uint64_t enter;
  std::uint64_t leave;         // ticks, of the last one that returned
  std::uint64_t communicator;  // MPI handle as the program passed it
  std::int32_t peer;
  std::int32_t tag;
  std::atomic<std::uint32_t> function;
  std::uint32_t requests;  // that a call of MPI_Wait and its kin waits for; those known are in the request table
  std::uint32_t communicator_number;  // as in records; 0 if it is not defined yet
  std::int32_t source;                // as posted, of a call that sends and receives; else no_peer
  std::int32_t source_tag;            // else no_tag
  std::uint32_t site;                 // number of the call site, which has been defined; 0 if there was no room for it
  std::uint32_t reserved;
};

inline constexpr std::uint32_t returned = 0x80000000;

// The same as read by others. Also on disk: the payload of a calls chunk is a CallsHead, these, and RequestEntries.
struct ThreadCall {
  std::uint64_t enter;  // ticks
  std::uint64_t leave;
  std::uint32_t block;
  std::uint32_t thread;
  std::uint32_t function;  // with the bit `returned`; 0: the thread has made no call
  std::uint32_t site;      // 0: not known
  std::uint32_t communicator;
  std::int32_t peer;
  std::int32_t tag;
  std::int32_t source;
  std::int32_t source_tag;
  std::uint32_t requests;
  std::uint64_t reserved;
};
static_assert(sizeof(ThreadCall) == 64);

// Block and thread are left to the caller.
inline ThreadCall call_of(const CurrentCall& current) noexcept {
  ThreadCall call{};
  call.enter = current.enter;
  call.leave = current.leave;
  call.function = current.function.load(std::memory_order_acquire);
  // Not every poll is timed (mpi/polls.h): then it came after the call that was.
  if ((call.function & returned) == 0 && call.enter < call.leave) call.enter = call.leave;
  call.communicator = current.communicator_number;
  call.peer = current.peer;
  call.tag = current.tag;
  call.source = current.source;
  call.source_tag = current.source_tag;
  call.requests = current.requests;
  call.site = current.site;
  return call;
}

struct CallsHead {
  std::uint32_t threads;
  std::uint32_t requests;
};

inline constexpr unsigned duration_bins = 26;
inline constexpr std::uint8_t no_size = 255;  // size class of calls that move no bytes

// One row of the profile table. Also on disk: the payload of a profile chunk is an array of these after
// its LocationSummary. Durations are in ticks. Bin i of the histogram counts durations of bit width i + 6
// (bin 0 also those below, the last bin also those above). A call of a known row touches the first two or three
// cache lines, in this order.
struct ProfileRow {
  std::uint32_t site;  // 0 in rows that count calls of many sites
  std::uint32_t reserved;
  std::uint16_t function;
  std::uint8_t size_class;  // bit width of the bytes of one call; no_size
  std::uint8_t reserved2;
  std::uint32_t communicator;
  std::uint64_t estimated;  // of the calls: polls whose time is estimated (mpi/polls.h)
  std::uint64_t calls;
  std::uint64_t ticks;
  std::uint64_t ticks_min;
  std::uint64_t ticks_max;
  double ticks_squared;  // sum of squares
  std::uint64_t bytes;
  std::uint64_t received;      // beside those of `bytes`, by calls that send and receive
  std::uint64_t waited_ticks;  // of the calls of MPI_Wait, MPI_Test and their kin that completed its requests
  std::uint32_t histogram[duration_bins];
};
static_assert(sizeof(ProfileRow) == 192);
inline constexpr unsigned first_bin_width = 6;

// Where a duration belongs in a histogram.
inline unsigned duration_bin(std::uint64_t ticks) noexcept {
  constexpr std::uint64_t least = (1U << first_bin_width) - 1;
  const auto bin = static_cast<unsigned>(std::bit_width(ticks | least)) - first_bin_width;
  return bin < duration_bins ? bin : duration_bins - 1;
}

// What a thread has sent to a rank of a communicator, and received from it. Also on disk.
struct PeerEntry {
  std::uint32_t communicator;
  std::int32_t peer;  // rank in it (of an intercommunicator, in the other group)
  std::uint64_t sent_messages;
  std::uint64_t sent_bytes;
  std::uint64_t received_messages;
  std::uint64_t received_bytes;
};
static_assert(sizeof(PeerEntry) == 40);

// What happened in a phase, without what happened in phases within it. Also on disk.
struct PhaseEntry {
  std::uint32_t type;  // number of its event type, which has its name; 0: outside of any phase
  std::uint32_t reserved;
  std::uint64_t entries;    // times that it began
  std::uint64_t ticks;      // without the stretch that is going on: see LocationSummary
  std::uint64_t mpi_ticks;  // of them in MPI
  std::uint64_t calls;      // timed ones
  std::uint64_t bytes;      // of the calls, and received beside them and for requests that completed
};
static_assert(sizeof(PhaseEntry) == 48);

// Entry 0 of either table takes what finds no room: of peers it has no_peer, of phases type UINT32_MAX.
inline constexpr unsigned peer_capacity = 2048;
inline constexpr unsigned peer_slots = 4096;
inline constexpr unsigned phase_capacity = 64;
inline constexpr std::uint32_t other_phase = UINT32_MAX;
// Phase 1 is what lies outside of all phases. It has its time only: its calls are those of the rows that are in no
// other phase, so that a program without phases does not pay for them.
inline constexpr std::uint32_t outside_phases = 1;

// What the node's tared has drained of a block. Also on disk.
struct TaredTotals {
  std::uint64_t drains;
  std::uint64_t ticks;
  std::uint64_t records;
  std::uint64_t raw_bytes;
  std::uint64_t bytes;
};

// Counters of a location. Also on disk, at the head of a profile chunk.
struct LocationSummary {
  std::uint32_t number;     // of the thread that owns the block now, in order of first MPI call
  std::uint32_t thread_id;  // the kernel's
  std::uint32_t rows;       // used
  std::uint32_t in_use;     // 0 once the thread has ended and the block waits for another
  std::uint64_t events;     // call and completion records written to the buffer, ever
  std::uint64_t dropped;    // of them lost
  std::uint64_t flushes;
  std::uint64_t flush_ticks;
  std::uint64_t flush_raw_bytes;  // before encoding
  std::uint64_t flush_bytes;      // written
  std::uint64_t completions;      // requests completed by its calls, as far as they were looked at
  std::uint32_t peers;            // entries in use, as of rows
  std::uint32_t phases;
  std::uint64_t phase_since;        // ticks: when the phase that the thread is in began or was come back to
  std::uint32_t phase;              // which that is: an entry of the phase table
  std::uint32_t full;               // FullTables
  std::uint64_t overwritten_bytes;  // of records that gave way to newer ones
  std::uint64_t api_events;         // events of the API that were recorded, also if they were dropped or overwritten
  TaredTotals tared;                // in a segment 0: see summary_of
};
static_assert(sizeof(LocationSummary) == 152);
enum FullTables : std::uint32_t {
  full_rows = 1,
  full_peers = 2,
  full_phases = 4,
  kept_newest = 8,  // the buffer could not be written out: from then on its newest events were kept, those between lost
  no_space = 16     // beside that: for want of space
};

// Of the functions counted only: calls by function number. Size of the array in a LocationHeader.
inline constexpr unsigned max_functions = 1024;
inline constexpr unsigned index_slots = 4096;

// One counter of a location that is not zero. Also on disk, behind the rows of a profile chunk.
struct CountedCalls {
  std::uint64_t function;
  std::uint64_t calls;
};
static_assert(sizeof(CountedCalls) == 16);

struct LocationHeader {
  alignas(64) CurrentCall current;
  alignas(64) std::atomic<std::uint64_t> head;     // position in the event buffer: see ring.h
  std::uint32_t block;                             // index of this block in the segment
  alignas(64) std::atomic<std::uint64_t> drained;  // of the event buffer: see Drained
  TaredTotals tared;                               // written by it, nobody else
  alignas(64) LocationSummary summary;
  alignas(64) std::uint64_t lookups[max_functions];
  std::uint16_t index[index_slots];      // hash table of row numbers; 0 = empty. Row 0 takes what does not fit.
  std::uint16_t peer_index[peer_slots];  // the same of peers
  alignas(64) PhaseEntry phases[phase_capacity];
  alignas(64) PeerEntry peers[peer_capacity];
};

// The counters of a location as they are on disk, from both halves.
inline LocationSummary summary_of(LocationSummary summary, const TaredTotals& tared) noexcept {
  summary.tared = tared;
  summary.events += tared.records;
  return summary;
}

// Event chunks of such a block (its number | this) hold the FlushRecords of what tared has drained of the block, each
// in a chunk of its own, which has the number of the sub-buffer as its sequence.
inline constexpr std::uint32_t tared_block = 0x80000000;
constexpr bool is_of_tared(std::uint32_t block) noexcept { return (block & tared_block) != 0; }

inline constexpr std::uint64_t rows_at = (sizeof(LocationHeader) + 63) / 64 * 64;

inline ProfileRow* rows_of(LocationHeader* location) noexcept {
  return reinterpret_cast<ProfileRow*>(reinterpret_cast<char*>(location) + rows_at);
}
inline const ProfileRow* rows_of(const LocationHeader* location) noexcept {
  return rows_of(const_cast<LocationHeader*>(location));
}
// Of the sub-buffers, in a location block.
constexpr std::uint64_t buffer_at(std::uint32_t row_capacity) noexcept {
  return rows_at + row_capacity * sizeof(ProfileRow);
}
inline char* buffer_of(LocationHeader* location, std::uint32_t row_capacity) noexcept {
  return reinterpret_cast<char*>(location) + buffer_at(row_capacity);
}
inline const char* buffer_of(const LocationHeader* location, std::uint32_t row_capacity) noexcept {
  return buffer_of(const_cast<LocationHeader*>(location), row_capacity);
}

}  // namespace tare::format

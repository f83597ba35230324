// Records as they lie in the event buffer of a location, before a drain encodes them by column.
//
// A buffer is a sequence of records without gaps. Each begins with a RecordHead that gives its kind and length, so
// readers can skip unknown kinds. Only the owning thread writes. A record is valid when the location's `head` lies
// beyond it. Times are raw clock ticks (see clock.h).
#pragma once

#include <cstdint>

namespace tare::format {

// The kind of a record. Values below first_other are numbers of functions of MPI (functions.h). Calls of other sources
// of events are SourceCallRecords.
enum RecordKind : std::uint16_t {
  first_other = 0x8000,
  completion = 0x8001,          // one completed request; belongs to the call record before it
  flush = 0x8002,               // a drain of this buffer: tare's own cost, visible in the trace
  loss = 0x8003,                // records dropped since the record before
  event = 0x8004,               // of the API: a registered type and 0 to 10 parameters
  raw_event = 0x8005,           // of the API: a registered type and bytes
  start = 0x8006,               // one of several requests that a call started; belongs to the call record before it
  foreign_completion = 0x8007,  // as completion, for a request that another thread started
  source_call = 0x8008,         // a call of a function of another source than MPI, with arguments of its own
};

struct RecordHead {
  std::uint16_t kind;
  std::uint16_t words;  // size of the whole record in units of 8 bytes
};

// Values of absent fields of a call. The file contains the same values.
inline constexpr std::int32_t no_peer = INT32_MIN;
inline constexpr std::int32_t no_tag = INT32_MIN;
inline constexpr std::uint32_t no_communicator = 0;
inline constexpr std::uint32_t no_request = 0;
inline constexpr std::uint64_t no_bytes = UINT64_MAX;

// Values of peer and tag that differ between MPI libraries, as tare writes them.
inline constexpr std::int32_t any_source = -1;
inline constexpr std::int32_t proc_null = -2;
inline constexpr std::int32_t root_of_other_group = -3;  // MPI_ROOT
inline constexpr std::int32_t any_tag = -1;

// In place of a tag: of MPI_Win_post and MPI_Win_start the number of the group, 0 if not known; of MPI_Win_lock the
// type.
inline constexpr std::int32_t exclusive_lock = 1;
inline constexpr std::int32_t shared_lock = 2;

// One MPI call, written at its exit.
struct CallRecord {
  RecordHead head;
  std::uint32_t site;  // number of the call site in this process
  std::uint64_t enter;
  std::uint64_t leave;
  std::uint64_t bytes;         // no_bytes for functions that move none
  std::int32_t peer;           // rank in the communicator: destination, source, root or target; no_peer
  std::int32_t tag;            // in calls that begin an epoch of one-sided accesses: see above
  std::uint32_t communicator;  // number in this process, or that of a window or file; no_communicator
  std::uint32_t request;       // request handle folded to 32 bits, of the request that the call created
};
static_assert(sizeof(CallRecord) == 48);

// A call that sends and receives. `bytes`, `peer` and `tag` describe what it sends. Its size distinguishes it from a
// CallRecord.
struct ExchangeRecord {
  CallRecord call;
  std::uint64_t received;   // bytes; no_bytes if it failed
  std::int32_t source;      // of the received data, in the communicator; no_peer if that is not one rank
  std::int32_t source_tag;  // of the received data
};
static_assert(sizeof(ExchangeRecord) == 64);

struct CompletionRecord {
  RecordHead head;
  std::uint32_t request;  // as in CallRecord
  std::uint64_t bytes;    // received; no_bytes for requests that receive nothing
  std::int32_t source;
  std::int32_t tag;
};
static_assert(sizeof(CompletionRecord) == 24);

// Fields as in CallRecord, for a request that was started. The call has no request of its own then.
struct StartRecord {
  RecordHead head;
  std::uint32_t request;
  std::uint64_t bytes;
  std::int32_t peer;
  std::int32_t tag;
  std::uint32_t communicator;
  std::uint32_t reserved;
};
static_assert(sizeof(StartRecord) == 32);

struct FlushRecord {
  RecordHead head;
  std::uint32_t records;  // drained
  std::uint64_t enter;
  std::uint64_t leave;
  std::uint64_t bytes;  // written to disk
};
static_assert(sizeof(FlushRecord) == 32);

struct LossRecord {
  RecordHead head;
  std::uint32_t reserved;
  std::uint64_t enter;  // when the first record was dropped
  std::uint64_t leave;  // when the last record was dropped
  std::uint64_t records;
};
static_assert(sizeof(LossRecord) == 32);

// An event of the API (include/tare/tare.h) of any class, including regions, counters, markers and phases. Its
// parameters follow, 8 bytes each, as many as `words` has room for. Its type says how to read them.
struct EventRecord {
  RecordHead head;
  std::uint32_t type;
  std::uint64_t time;
};
static_assert(sizeof(EventRecord) == 16);

// Its bytes follow, padded to a multiple of 8.
struct RawEventRecord {
  RecordHead head;
  std::uint32_t type;
  std::uint64_t time;
  std::uint64_t bytes;
};
static_assert(sizeof(RawEventRecord) == 24);

// A call of a function of another source than MPI, written at its exit. It begins as an EventRecord does. Its arguments
// follow, 8 bytes each, as many as `words` has room for. The table of the source names them.
struct SourceCallRecord {
  RecordHead head;
  std::uint32_t function;
  std::uint64_t enter;
  std::uint64_t leave;
  std::uint32_t site;
  std::uint32_t object;  // what the call works on, as the source numbers it; 0: nothing
};
static_assert(sizeof(SourceCallRecord) == 32);

inline constexpr unsigned max_parameters = 10;        // also of arguments of a SourceCallRecord
inline constexpr std::uint64_t max_raw_bytes = 2048;  // longer ones are cut

}  // namespace tare::format

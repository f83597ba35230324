// Event chunks: the records of a buffer, stored by column.
//
// A program calls MPI in few ways. The combinations of function, call site, peer, tag, bytes, communicator and received
// data that occur in one chunk are few. They are written once, as signatures. So are the combinations of source, tag
// and bytes of completed requests, and of peer, tag, bytes and communicator of requests that were started together. The
// order of signatures repeats itself as well, so only mispredictions are written (sequence.h). What is left of a call
// is the gap since the call before, its duration (spans.h), and its request. Most requests complete soon, in the order
// in which they were started. So a completion names its start by the step from the start of the completion before,
// which is nearly always 1. Then the number of the request is not needed.
//
// Payload of an event chunk (before compression), with N = ChunkHeader::records:
//   u32 calls, completions, flushes, losses, events, raw_events, starts, source_calls   (their sum is N;
//       format 1 has no source_calls)
//   u32 signatures, misses
//   u64 time_base   ticks >> tick_shift, `enter` of the first call or other timed record
//   columns of signatures:    function, site, peer, tag, bytes, communicator, received, source, source_tag, starts
//                             (of completions: function 0x8001, site 0, peer the source, communicator 0;
//                             of starts: function 0x8006, site 0; starts: 1 if it has a request, else 0)
//   columns of the sequence of calls, completions and starts, for each miss:   run, signature
//   column of calls and starts that have a request:   request
//   columns of completions:   step, request
//   columns of flushes:       enter - time_base, duration, records, bytes
//   columns of losses:        enter - time_base, duration, records
//   columns of events:        type, number of parameters, gap; then, for each combination of type and number in
//                             order of its first event, a column for each parameter, of the events that have it
//   columns of raw events:    type, bytes, gap; then the bytes, one event after the other
//   columns of source calls:  function, number of arguments, gap, duration, site, object; then the arguments, as the
//                             parameters of events
//   spans of calls:           gap, duration
// In a compressed chunk, spans are stored uncompressed in a separate zstd frame: zstd cannot make them smaller.
// A column is as in column.h; columns of absent kinds (count 0) are left out. Absent values are those of
// record.h, so absent bytes are -1. All times are ticks >> tick_shift (ProcessRecord).
// gap of an event or source call: its time, or enter, minus that of the one of its kind before (time_base for the
// first). gap: enter of this call minus leave of the call before it in the chunk (time_base for the first). request of
// a call or start: completed_in_chunk, else the number of a request that outlives the chunk. Calls with a request, and
// starts, which stand behind a call that started several, are numbered together in the chunk, from 0. step: number of
// the start that this completion belongs to, minus the one of the completion before (-1 for the first), minus 1.
// request of a completion: 0, or the number of a request that was started in an earlier chunk; then it belongs to no
// start, and step is 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "format/chunk.h"
#include "format/record.h"

namespace tare::format {

// The most records in a chunk. It limits what encoder and decoder allocate.
inline constexpr std::size_t chunk_records = 16384;

// Request of a call whose completion is in the same chunk.
inline constexpr std::uint32_t completed_in_chunk = 1;

// Encodes without allocating: all memory is the workspace given at construction. Not thread-safe; one
// encoder per location.
class EventEncoder {
 public:
  struct Workspace;  // event_encoder.cpp
  // Bytes of workspace an encoder needs, 64-byte aligned.
  static std::size_t workspace_bytes() noexcept;
  // Without a workspace, an encoder can only be assigned to.
  EventEncoder() = default;
  // Uses `workspace`, which must outlive it. `zeroed`: new memory from the kernel, whose pages are not touched before
  // records need them.
  enum class Memory { used, zeroed };
  explicit EventEncoder(void* workspace, Memory memory = Memory::used) noexcept;

  // A sealed chunk: header and payload, valid until the next call.
  struct Chunk {
    const char* data;  // nullptr if there was nothing to encode
    std::size_t bytes;
    std::size_t consumed;  // bytes of records that it holds
    std::size_t records;   // number of records
    std::size_t calls;
  };
  // Encodes the first records of [records, records + bytes), at most chunk_records of them. Stops at a record of
  // unknown kind or impossible size (incomplete because of a kill). `identity` gives process, location, block,
  // sequence, ticks and monotonic_ns of the header.
  Chunk encode(const ChunkHeader& identity, const char* records, std::size_t bytes, unsigned tick_shift) noexcept;

 private:
  Workspace* workspace_ = nullptr;
};

}  // namespace tare::format

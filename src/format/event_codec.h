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

struct DecodedCall {
  std::uint64_t enter, leave;  // ticks >> tick_shift
  std::uint64_t bytes;         // no_bytes
  std::uint64_t received;      // no_bytes
  std::uint32_t site, communicator;
  std::uint32_t request;  // as in the file: 0, completed_in_chunk, or a request's number
  std::int32_t peer, tag;
  std::int32_t source, source_tag;
  std::uint16_t function;
};
struct DecodedCompletion {
  std::uint32_t call;     // index of the call that completed it, UINT32_MAX if that is in an earlier chunk
  std::uint32_t start;    // index of the call that started it; UINT32_MAX: an earlier chunk, or one of `starts`
  std::uint32_t nth;      // index in `starts`; UINT32_MAX: it is none of them
  std::uint32_t request;  // its number, if its start is in an earlier chunk, else 0
  std::uint64_t bytes;
  std::int32_t source, tag;
};
struct DecodedStart {                   // one of several requests that a call started
  std::uint32_t call;                   // index of it, UINT32_MAX if that is in an earlier chunk
  std::uint32_t request, communicator;  // this and the others as of a DecodedCall
  std::uint64_t bytes;
  std::int32_t peer, tag;
};
struct DecodedSpan {  // flush or loss
  std::uint64_t enter, leave, records, bytes;
};
struct DecodedEvent {  // event or raw event
  std::uint64_t time;
  std::uint32_t type;
  std::uint32_t count;  // of parameters, or bytes
  std::size_t at;       // index of the first in `parameters` or `text`
};
struct DecodedSourceCall {
  std::uint64_t enter, leave;
  std::uint32_t function, site, object;
  std::uint32_t count;  // of arguments
  std::size_t at;       // index of the first in `arguments`
};
struct DecodedEvents {
  std::vector<DecodedCall> calls;
  std::vector<DecodedCompletion> completions;
  std::vector<DecodedStart> starts;
  std::vector<DecodedSpan> flushes, losses;
  std::vector<DecodedEvent> events, raw_events;
  std::vector<DecodedSourceCall> source_calls;
  std::vector<std::uint64_t> parameters, arguments;
  std::string text;
};

// Decodes a decompressed payload of header.records records. On malformed input returns false, with the reason in
// `error`. Never reads outside the payload. May throw std::bad_alloc.
bool decode_events(const ChunkHeader& header, const char* payload, std::size_t bytes, DecodedEvents& events,
                   std::string& error);

// Decompresses the payload of a chunk whose checksum has been verified. False and `error` if it is malformed.
bool decompress(const ChunkHeader& header, const char* stored, std::vector<char>& raw, std::string& error);

}  // namespace tare::format

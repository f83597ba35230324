// An event chunk as columns, in memory that is kept from chunk to chunk. event_codec.h describes the form in the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "format/chunk.h"
#include "format/event_codec.h"

namespace tare::format {

struct DecodedSpan {  // flush or loss
  std::uint64_t enter, leave, records, bytes;
};

// Values are as in the file. Times are ticks >> tick_shift. The columns of a group have equal length. References to
// another group are indices in it; UINT32_MAX: it is in an earlier chunk.
struct EventColumns {
  struct Signatures {
    std::vector<std::int64_t> function, site, peer, tag, bytes, communicator, received, source, source_tag;
  } signatures;
  struct Calls {
    std::vector<std::int64_t> signature;
    std::vector<std::uint64_t> enter, duration;
    std::vector<std::int64_t> request;  // as in the file
  } calls;
  struct Starts {
    std::vector<std::int64_t> signature, request;
    std::vector<std::uint32_t> call;
  } starts;
  // What is numbered together: calls that started a request, and starts. One of the two is UINT32_MAX.
  struct Requests {
    std::vector<std::uint32_t> call, nth;  // nth: in `starts`
  } requests;
  struct Completions {
    std::vector<std::int64_t> signature, request;
    std::vector<std::uint32_t> call;   // that completed it
    std::vector<std::uint32_t> start;  // index in `requests`; UINT32_MAX: `request` says it
  } completions;
  std::vector<DecodedSpan> flushes, losses;
  // Events of the API. The parameters of event i begin at first[i] and end at first[i + 1].
  struct Events {
    std::vector<std::uint32_t> type;
    std::vector<std::uint64_t> time;
    std::vector<std::uint32_t> first;  // one more than events
  } events, raw_events;
  // Calls of other sources than MPI. `type` is the function, `time` the enter; the parameters are arguments.
  struct SourceCalls : Events {
    std::vector<std::uint64_t> duration;
    std::vector<std::int64_t> site, object;
  } source_calls;
  std::vector<std::uint64_t> parameters, arguments;
  std::string text;  // the parameters of raw events
};

// Decodes a decompressed payload of header.records records, and replaces the content of `columns`. On malformed input
// returns false, with the reason in `error`; `columns` must not be used then. Never reads outside the payload. May
// throw std::bad_alloc.
bool decode_columns(const ChunkHeader& header, const char* payload, std::size_t bytes, EventColumns& columns,
                    std::string& error);

}  // namespace tare::format

// An event chunk as rows, for tests that look at single records.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "format/event_columns.h"

namespace tare::format {

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

using Signatures = EventColumns::Signatures;

inline void rows_of(const EventColumns::Calls& columns, const Signatures& s, std::vector<DecodedCall>& calls) {
  calls.resize(columns.signature.size());
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const auto k = static_cast<std::size_t>(columns.signature[i]);
    DecodedCall& call = calls[i];
    call.enter = columns.enter[i];
    call.leave = columns.enter[i] + columns.duration[i];
    call.bytes = static_cast<std::uint64_t>(s.bytes[k]);
    call.site = static_cast<std::uint32_t>(s.site[k]);
    call.communicator = static_cast<std::uint32_t>(s.communicator[k]);
    call.request = static_cast<std::uint32_t>(columns.request[i]);
    call.peer = static_cast<std::int32_t>(s.peer[k]);
    call.tag = static_cast<std::int32_t>(s.tag[k]);
    call.function = static_cast<std::uint16_t>(s.function[k]);
    call.received = static_cast<std::uint64_t>(s.received[k]);
    call.source = static_cast<std::int32_t>(s.source[k]);
    call.source_tag = static_cast<std::int32_t>(s.source_tag[k]);
  }
}

inline void rows_of(const EventColumns::Starts& columns, const Signatures& s, std::vector<DecodedStart>& starts) {
  starts.resize(columns.signature.size());
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const auto k = static_cast<std::size_t>(columns.signature[i]);
    starts[i] = {columns.call[i],
                 static_cast<std::uint32_t>(columns.request[i]),
                 static_cast<std::uint32_t>(s.communicator[k]),
                 static_cast<std::uint64_t>(s.bytes[k]),
                 static_cast<std::int32_t>(s.peer[k]),
                 static_cast<std::int32_t>(s.tag[k])};
  }
}

inline void rows_of(const EventColumns::Completions& columns, const EventColumns::Requests& requests,
                    const Signatures& s, std::vector<DecodedCompletion>& completions) {
  completions.resize(columns.signature.size());
  for (std::size_t i = 0; i < completions.size(); ++i) {
    const auto k = static_cast<std::size_t>(columns.signature[i]);
    const std::uint32_t start = columns.start[i];
    const bool is_here = start != UINT32_MAX;
    completions[i] = {columns.call[i],
                      is_here ? requests.call[start] : UINT32_MAX,
                      is_here ? requests.nth[start] : UINT32_MAX,
                      static_cast<std::uint32_t>(columns.request[i]),
                      static_cast<std::uint64_t>(s.bytes[k]),
                      static_cast<std::int32_t>(s.peer[k]),
                      static_cast<std::int32_t>(s.tag[k])};
  }
}

inline void rows_of(const EventColumns::Events& columns, std::vector<DecodedEvent>& events) {
  events.resize(columns.type.size());
  for (std::size_t i = 0; i < events.size(); ++i) {
    const std::uint32_t first = columns.first[i];
    events[i] = {columns.time[i], columns.type[i], columns.first[i + 1] - first, first};
  }
}

inline void rows_of(const EventColumns::SourceCalls& columns, std::vector<DecodedSourceCall>& calls) {
  calls.resize(columns.type.size());
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const std::uint32_t first = columns.first[i];
    calls[i] = {columns.time[i],
                columns.time[i] + columns.duration[i],
                columns.type[i],
                static_cast<std::uint32_t>(columns.site[i]),
                static_cast<std::uint32_t>(columns.object[i]),
                columns.first[i + 1] - first,
                first};
  }
}

// As decode_columns().
inline bool decode_events(const ChunkHeader& header, const char* payload, std::size_t bytes, DecodedEvents& events,
                          std::string& error) {
  thread_local EventColumns columns;
  events = {};
  if (!decode_columns(header, payload, bytes, columns, error)) return false;
  rows_of(columns.calls, columns.signatures, events.calls);
  rows_of(columns.completions, columns.requests, columns.signatures, events.completions);
  rows_of(columns.starts, columns.signatures, events.starts);
  events.flushes = columns.flushes;
  events.losses = columns.losses;
  rows_of(columns.events, events.events);
  rows_of(columns.raw_events, events.raw_events);
  rows_of(columns.source_calls, events.source_calls);
  events.parameters = columns.parameters;
  events.arguments = columns.arguments;
  events.text = columns.text;
  return true;
}

}  // namespace tare::format

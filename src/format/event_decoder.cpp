#include <zstd.h>

#include <memory>
#include <new>

#include "format/event_codec.h"
#include "format/event_columns.h"

namespace tare::format {
namespace {

using Signatures = EventColumns::Signatures;

void rows_of(const EventColumns::Calls& columns, const Signatures& s, std::vector<DecodedCall>& calls) {
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

void rows_of(const EventColumns::Starts& columns, const Signatures& s, std::vector<DecodedStart>& starts) {
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

void rows_of(const EventColumns::Completions& columns, const EventColumns::Requests& requests, const Signatures& s,
             std::vector<DecodedCompletion>& completions) {
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

void rows_of(const EventColumns::Events& columns, std::vector<DecodedEvent>& events) {
  events.resize(columns.type.size());
  for (std::size_t i = 0; i < events.size(); ++i) {
    const std::uint32_t first = columns.first[i];
    events[i] = {columns.time[i], columns.type[i], columns.first[i + 1] - first, first};
  }
}

void rows_of(const EventColumns::SourceCalls& columns, std::vector<DecodedSourceCall>& calls) {
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

}  // namespace

bool decode_events(const ChunkHeader& header, const char* payload, std::size_t bytes, DecodedEvents& events,
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

namespace {

// Setting up zstd's state takes longer than decompressing most chunks, so each thread keeps one.
std::size_t decompress_frame(char* out, std::size_t bytes, const char* in, std::size_t in_bytes) {
  struct Free {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  };
  thread_local const std::unique_ptr<ZSTD_DCtx, Free> context(ZSTD_createDCtx());
  if (context == nullptr) throw std::bad_alloc();
  return ZSTD_decompressDCtx(context.get(), out, bytes, in, in_bytes);
}

}  // namespace

bool decompress(const ChunkHeader& header, const char* stored, std::vector<char>& raw, std::string& error) {
  // A header may claim anything. No chunk that tare writes is larger.
  constexpr std::uint32_t largest = 1U << 28;
  error.clear();
  if (header.raw_bytes > largest) error = "chunk claims an impossible size";
  if (header.compression == Compression::none) {
    if (header.raw_bytes != header.stored_bytes) error = "uncompressed chunk of two sizes";
    if (error.empty()) raw.assign(stored, stored + header.stored_bytes);
  } else if (header.compression == Compression::zstd) {
    if (!error.empty()) return false;
    raw.resize(header.raw_bytes);
    const std::size_t size = decompress_frame(raw.data(), raw.size(), stored, header.stored_bytes);
    if (ZSTD_isError(size) || size != raw.size()) error = "chunk does not decompress to its size";
  } else {
    error = "unknown compression " + std::to_string(static_cast<int>(header.compression));
  }
  return error.empty();
}

}  // namespace tare::format

// An event of a run as a row.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "format/record.h"

namespace tare::reader {

// Events of the API have the kind `event` or, for raw ones, `raw_event`.
// `call`: of a function of MPI; `source_call`: of another source of events.
enum class EventKind : std::uint8_t { call, flush, drain, loss, event, raw_event, source_call };
constexpr bool is_call(EventKind kind) { return kind == EventKind::call || kind == EventKind::source_call; }

// One of several requests that a call started or completed. Unknown values are absent, as in EventRow.
struct EventRequest {
  std::uint32_t request = format::no_request;
  std::uint32_t starter = UINT32_MAX;  // the thread that started it, if it is not the thread of the row
  std::int32_t communicator = -1;
  std::int32_t peer = format::no_peer;
  std::int32_t peer_world = format::no_peer;
  std::int32_t tag = format::no_tag;
  std::uint64_t bytes = format::no_bytes;
};

// Numbers are as recorded; no_bytes and similar values mean absent. Ranks are those of the communicator, unless the
// name contains "world". Sites, communicators and scopes are indices in tables of the run.
struct EventRow {
  std::int64_t start_ns = 0;  // Unix time
  std::int64_t duration_ns = 0;
  std::uint64_t bytes = format::no_bytes;
  std::uint64_t received = format::no_bytes;  // for a call that sends `bytes` and also receives
  std::uint64_t records = 0;                  // for a flush, drain or loss
  std::uint32_t process = 0;                  // index in Run::processes()
  std::int32_t world = 0;
  std::int32_t rank = 0;
  std::uint32_t thread = 0;
  std::uint32_t request = format::no_request;
  std::int32_t site = -1;
  std::int32_t communicator = -1;
  std::int32_t scope = -1;  // window or file: index in Run::scopes()
  std::int32_t peer = format::no_peer;
  std::int32_t peer_world = format::no_peer;  // its rank in the world, if known
  std::int32_t tag = format::no_tag;
  // Of a call that begins an epoch of one-sided accesses: the number of its group, or the type of its lock (record.h).
  std::int32_t epoch = format::no_tag;
  std::int32_t source = format::no_peer;  // the source of `received`, and its rank in the world
  std::int32_t source_world = format::no_peer;
  std::int32_t source_tag = format::no_tag;
  std::uint16_t function = 0;
  EventKind kind = EventKind::call;
  bool rooted = false;  // `peer` is the root of a collective
  // Of a call of another source, what it works on; 0: nothing, or not known. Of a file: its entry in Process::files.
  std::uint32_t object = 0;
  const std::string* thread_name = nullptr;  // nullptr: it has none; valid as long as the run
  std::vector<EventRequest> requests{};      // for a call: its requests, if it started or completed several
  std::int32_t event_type = -1;              // for an event: index in Run::event_types(), -1 if its definition is lost
  // Of an event: 8 bytes each, as recorded. Of a call of another source: its arguments (FunctionNames::arguments).
  std::vector<std::uint64_t> parameters{};
  std::string text{};                  // for a raw event
  std::uint32_t starter = UINT32_MAX;  // the thread that started `request`, if it is another thread
};

}  // namespace tare::reader

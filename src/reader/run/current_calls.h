// The MPI calls that the threads of a run are in: of one that goes on, hangs, or has come to an early end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "reader/run/run.h"

namespace tare::reader {

// A request that has not been completed. Numbers of functions, sites and communicators are those of the run, -1 if
// unknown; so are those of CurrentCall.
struct PendingRequest {
  std::uint16_t function = 0;  // that started it
  std::int32_t site = -1;      // of that call
  std::int32_t communicator = -1;
  std::int32_t peer = format::no_peer;        // rank in the communicator, as posted
  std::int32_t peer_world = format::no_peer;  // in the world
  std::int32_t tag = format::no_tag;
  std::uint64_t bytes = 0;
  std::int64_t start_ns = 0;  // unix
  bool receives = false;
  bool waited_for = false;  // by the thread, in the call that it is in
};

struct CurrentCall {
  std::size_t process = 0;  // index in Run::processes()
  std::uint32_t thread = 0;
  bool inside = false;  // of the call; else it is the last one that returned
  std::uint16_t function = 0;
  std::int32_t site = -1;
  std::int32_t communicator = -1;
  std::int32_t peer = format::no_peer;
  std::int32_t peer_world = format::no_peer;
  std::int32_t tag = format::no_tag;
  std::int32_t source = format::no_peer;  // of a call that receives, too
  std::int32_t source_world = format::no_peer;
  std::int32_t source_tag = format::no_tag;
  std::uint64_t enter_ticks = 0;
  std::int64_t enter_ns = 0;            // unix
  std::int64_t leave_ns = 0;            // 0 while inside
  std::uint32_t requests = 0;           // that it waits for; `pending` holds those that are known
  std::vector<PendingRequest> pending;  // of the process; the same for all of its threads but for waited_for
};

// One for each thread that has made a call and has not ended, of the processes that it is known of.
std::vector<CurrentCall> current_calls(const Run& run);

}  // namespace tare::reader

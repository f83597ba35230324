// The MPI calls that the threads of a run are in: of a run that goes on or hangs, or of processes that ended early.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "reader/run/run.h"

namespace tare::reader {

// A request that has not completed. Here and in CurrentCall, `function`, `site` and `communicator` are indices in
// Run::functions(), sites() and communicators(); -1 (`function`: 0) if not known. A peer is no_peer if it is not known.
struct PendingRequest {
  std::uint16_t function = 0;  // the call that started it
  std::int32_t site = -1;      // of that call
  std::int32_t communicator = -1;
  std::int32_t peer = format::no_peer;        // rank in the communicator, as posted
  std::int32_t peer_world = format::no_peer;  // the same rank in the world
  std::int32_t tag = format::no_tag;
  std::uint64_t bytes = 0;
  std::int64_t start_ns = 0;  // Unix time
  bool receives = false;
  bool waited_for = false;  // the current call of the thread waits for it
};

struct CurrentCall {
  std::size_t process = 0;  // index in Run::processes()
  std::uint32_t thread = 0;
  bool inside = false;          // true: the thread is in this call; false: it is the last call that returned
  bool made_mpi_calls = false;  // by the thread, including this one
  std::uint16_t function = 0;
  std::int32_t site = -1;
  std::int32_t communicator = -1;
  std::string used_file;  // the name of the file that it works on; empty: none, or not known
  std::int32_t peer = format::no_peer;
  std::int32_t peer_world = format::no_peer;
  std::int32_t tag = format::no_tag;
  std::int32_t source = format::no_peer;  // of a call that sends and receives: where it receives from
  std::int32_t source_world = format::no_peer;
  std::int32_t source_tag = format::no_tag;
  std::uint64_t enter_ticks = 0;
  std::int64_t enter_ns = 0;  // Unix time
  std::int64_t leave_ns = 0;  // Unix time; 0 while inside
  // Unix time since which calls of the thread are only counted (recorder/spells.h), so that it is not known which one
  // it is in; 0: they are not.
  std::int64_t counted_since_ns = 0;
  std::uint32_t requests = 0;           // number of requests that it waits for; `pending` holds those that are known
  std::vector<PendingRequest> pending;  // of the whole process; only waited_for differs between its threads
};

// One element for each thread that has made a call and has not ended, if the calls of its process are known
// (Process::calls).
std::vector<CurrentCall> current_calls(const Run& run);

}  // namespace tare::reader

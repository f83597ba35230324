// A thread's room for the requests that a call may complete (roles/request_array.h). It is not on the stack, so that
// the stack frames of wrappers are small: that keeps their code short, and their data in the cache.
#pragma once

#include <cstdint>

#include "format/request_table.h"

namespace tare::mpi {

// A request that a call may complete, as it was before the call, in which MPI overwrites its handle.
struct FoundRequest {
  std::uint64_t handle;
  const format::RequestEntry* entry;  // nullptr: not in the table
};

// Room for a few of these, and for their statuses if the program does not ask for them.
struct RequestRoom {
  static constexpr unsigned few = 64;  // a halo exchange with all neighbours in three dimensions has 52 requests
  static constexpr unsigned max_status_bytes = 32;

  alignas(64) FoundRequest found[few];
  alignas(std::uint64_t) unsigned char statuses[few * max_status_bytes];
};

}  // namespace tare::mpi

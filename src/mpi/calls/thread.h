// What the MPI layer keeps for a thread besides its location and call paths: caches of what handles mean.
#pragma once

#include <atomic>
#include <cstdint>
#include <type_traits>

#include "mpi/calls/polls.h"
#include "mpi/interposition/function_tables.h"
#include "mpi/objects/request_room.h"
#include "stack/thread.h"

namespace tare::mpi {

struct Group;

// A communicator, as records name it.
struct Communicator {
  std::uint32_t number;  // format::no_communicator: not known
  std::int32_t size;     // of the local group
  std::int32_t rank;
  std::int32_t remote_size;  // size of an intercommunicator's other group, else 0
  std::uint64_t key;         // equal on all members of one world; 0: not known
  const Group* group;        // the local group (groups.h); nullptr: not known, here and below
  const Group* peers;        // the group whose ranks peers are: an intercommunicator's other group, else the local one
  std::uint32_t scope;       // number of the window or file that was made with the communicator; else 0

  // The number of ranks that a rooted or all-to-all operation reaches from here.
  std::int32_t partners() const noexcept { return remote_size != 0 ? remote_size : size; }
};

// A handle as a number: int handles and pointers alike.
template <class Handle>
std::uint64_t bits(Handle handle) noexcept {
  if constexpr (std::is_pointer_v<Handle>)
    return reinterpret_cast<std::uintptr_t>(handle);
  else
    return static_cast<std::uint32_t>(handle);
}

// Request handles are folded to 32 bits in records. Requests that exist at the same time rarely get the same number.
inline std::uint32_t fold(std::uint64_t handle) noexcept {
  const auto folded = static_cast<std::uint32_t>(handle ^ (handle >> 32));
  return folded <= 1 ? folded + 2 : folded;  // 0 and 1 have another meaning in records and chunks
}

// Increased when a handle of the kind is freed, because MPI may use its value again.
[[gnu::visibility("hidden")]] extern std::atomic<std::uint32_t> communicator_generation;
[[gnu::visibility("hidden")]] extern std::atomic<std::uint32_t> datatype_generation;

struct Thread : stack::Thread {
  static constexpr unsigned communicator_slots = 16;
  static constexpr unsigned datatype_slots = 64;
  struct alignas(64) CommunicatorEntry {
    std::uint64_t handle;
    std::uint32_t generation;
    Communicator communicator;
  };
  struct DatatypeEntry {
    std::uint64_t handle;
    std::uint32_t generation;
    std::int64_t size;
  };
  CommunicatorEntry communicators[communicator_slots];
  DatatypeEntry datatypes[datatype_slots];
  // The phase that MPI_Pcontrol has begun (roles/pcontrol.h), and the event type of its last level.
  std::uint32_t control_phase;
  std::uint32_t controlled_type;
  int controlled_level;
  // Memory for calls that may complete requests (roles/request_array.h). Only one call at a time uses it. `scratch` is
  // for many requests; it grows and never shrinks.
  RequestRoom request_room;
  char* scratch;
  std::size_t scratch_bytes;
  Polls polls;

  // Where a communicator is, if it is cached.
  CommunicatorEntry& cached_communicator(std::uint64_t handle) noexcept {
    return communicators[(handle ^ (handle >> 8)) % communicator_slots];
  }
  // The mark of entries that are valid now. Zeroed memory never has it.
  static std::uint32_t generation(const std::atomic<std::uint32_t>& raised) noexcept {
    return raised.load(std::memory_order_relaxed) + 1;
  }
};

}  // namespace tare::mpi

// The call that a thread is in, or was in last. Part of the segment (segment.h).
#pragma once

#include <atomic>
#include <cstdint>

namespace tare::format {

// The call that a thread is in, or was in last: then `function` has the bit `returned`. 0 before the first one;
// written last on entry, first on exit.
struct CurrentCall {
  std::uint64_t enter;
  std::uint64_t leave;         // ticks, of the last one that returned
  std::uint64_t communicator;  // MPI handle as the program passed it
  std::int32_t peer;
  std::int32_t tag;
  std::atomic<std::uint32_t> function;
  std::uint32_t requests;             // that a call of MPI_Wait, … waits for; those known are in the request table
  std::uint32_t communicator_number;  // as in records; 0 if it is not defined yet
  std::int32_t source;                // as posted, of a call that sends and receives; else no_peer
  std::int32_t source_tag;            // else no_tag
  std::uint32_t site;                 // number of the call site, which has been defined; 0 if there was no room for it
  std::uint32_t reserved;
};

inline constexpr std::uint32_t returned = 0x80000000;

// The same as read by others. Also on disk: the payload of a calls chunk is a CallsHead, these, and RequestEntries.
struct ThreadCall {
  std::uint64_t enter;  // ticks
  std::uint64_t leave;
  std::uint32_t block;
  std::uint32_t thread;
  std::uint32_t function;  // with the bit `returned`; 0: the thread has made no call
  std::uint32_t site;      // 0: not known
  std::uint32_t communicator;
  std::int32_t peer;
  std::int32_t tag;
  std::int32_t source;
  std::int32_t source_tag;
  std::uint32_t requests;
  std::uint64_t reserved;
};
static_assert(sizeof(ThreadCall) == 64);

// Block and thread are left to the caller.
inline ThreadCall call_of(const CurrentCall& current) noexcept {
  ThreadCall call{};
  call.enter = current.enter;
  call.leave = current.leave;
  call.function = current.function.load(std::memory_order_acquire);
  // Not every poll is timed (mpi/polls.h): then it came after the call that was.
  if ((call.function & returned) == 0 && call.enter < call.leave) call.enter = call.leave;
  call.communicator = current.communicator_number;
  call.peer = current.peer;
  call.tag = current.tag;
  call.source = current.source;
  call.source_tag = current.source_tag;
  call.requests = current.requests;
  call.site = current.site;
  return call;
}

struct CallsHead {
  std::uint32_t threads;
  std::uint32_t requests;
};

}  // namespace tare::format

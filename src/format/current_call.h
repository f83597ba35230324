// The call that a thread is in, or was in last. Part of the segment (segment.h).
#pragma once

#include <atomic>
#include <cstdint>

namespace tare::format {

// The call that a thread is in; or, if `function` has the bit `returned`, the one that it was in last. `function` is 0
// before the first call. It is written last when a call begins, and first when it ends.
struct CurrentCall {
  std::uint64_t enter;
  std::uint64_t leave;         // end of the last call that returned, in ticks
  std::uint64_t communicator;  // MPI handle as the program passed it
  std::int32_t peer;
  std::int32_t tag;
  std::atomic<std::uint32_t> function;
  std::uint32_t requests;             // that a call of MPI_Wait or a similar function waits for, as far as known
  std::uint32_t communicator_number;  // as in records; 0 if it is not defined yet
  std::int32_t source;                // for a call that sends and receives, as posted; else no_peer
  std::int32_t source_tag;            // else no_tag
  std::uint32_t site;  // number of the call site, which is defined by then; 0 if there was no room for it
  std::uint32_t reserved;
};

inline constexpr std::uint32_t returned = 0x80000000;

// The same as readers see it. Also on disk: the payload of a calls chunk is a CallsHead, ThreadCalls, and
// RequestEntries.
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

// The caller sets block and thread.
inline ThreadCall call_of(const CurrentCall& current) noexcept {
  ThreadCall call{};
  call.enter = current.enter;
  call.leave = current.leave;
  call.function = current.function.load(std::memory_order_acquire);
  // An untimed poll has no enter of its own (mpi/calls/polls.h). It began after the last timed call ended.
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

// What a thread is in, or was in last: a call of MPI, a call of another source of events, or a construct that contains
// calls. Part of the segment (segment.h).
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "format/record.h"

namespace tare::format {

// The call of MPI that a thread is in; or, if `function` has the bit `returned`, the one that it was in last.
// `function` is 0 before the first call. It is written last when a call begins, and first when it ends.
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

// The same of a call of another source; and the construct, as one of OpenMP, that the thread is in: `function` is 0 if
// it is in none.
struct OtherCall {
  std::uint64_t enter;
  std::uint64_t leave;
  std::uint32_t site;
  std::atomic<std::uint32_t> function;
  std::uint32_t object;  // as in source calls; 0: none, or not known
  std::uint32_t reserved;
};
struct CurrentConstruct {
  std::uint64_t enter;
  std::uint32_t site;
  std::atomic<std::uint32_t> function;
};
struct OtherCalls {
  OtherCall call;
  CurrentConstruct construct;
};

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
  std::uint32_t flags;   // ThreadCallFlags; 0 in earlier files
  std::uint32_t object;  // of a call of another source, as in source calls; 0: none, or not known
};
static_assert(sizeof(ThreadCall) == 64);
enum ThreadCallFlags : std::uint32_t {
  of_other_source = 1,  // not of MPI
  never_in_mpi = 2      // the thread has made no call of MPI
};

// Whether the thread is in a call of MPI.
constexpr bool is_in_mpi(const ThreadCall& call) noexcept {
  return call.function != 0 && (call.function & returned) == 0 && (call.flags & of_other_source) == 0;
}

// Of a call of another source, or of a construct.
inline ThreadCall other_call(std::uint64_t enter, std::uint64_t leave, std::uint32_t function, std::uint32_t site,
                             std::uint32_t flags, std::uint32_t object) noexcept {
  ThreadCall call{};
  call.enter = enter;
  call.leave = leave;
  call.function = function;
  call.site = site;
  call.peer = call.source = no_peer;
  call.tag = call.source_tag = no_tag;
  call.flags = flags;
  call.object = object;
  return call;
}

// A call that is under way goes before a construct, as it is in it; and the last call of MPI before that of another
// source. The caller sets block and thread.
inline ThreadCall call_of(const CurrentCall& current, const OtherCalls& others) noexcept {
  const std::uint32_t of_mpi = current.function.load(std::memory_order_acquire);
  if (of_mpi == 0 || (of_mpi & returned) != 0) {
    const std::uint32_t flags = of_mpi == 0 ? of_other_source | never_in_mpi : of_other_source;
    const std::uint32_t other = others.call.function.load(std::memory_order_acquire);
    const std::uint32_t construct = others.construct.function.load(std::memory_order_acquire);
    const bool is_in_other = other != 0 && (other & returned) == 0;
    if (!is_in_other && construct != 0)
      return other_call(others.construct.enter, 0, construct, others.construct.site, flags, 0);
    if (is_in_other || of_mpi == 0)
      return other_call(others.call.enter, others.call.leave, other, others.call.site, flags, others.call.object);
  }
  ThreadCall call{};
  call.enter = current.enter;
  call.leave = current.leave;
  call.function = of_mpi;
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

// When the last call or construct was entered or left, as far as this is known, in ticks.
inline std::uint64_t last_time(const CurrentCall& current, const OtherCalls& others) noexcept {
  return std::max({current.enter, current.leave, others.call.enter, others.call.leave, others.construct.enter});
}

struct CallsHead {
  std::uint32_t threads;
  std::uint32_t requests;
};

}  // namespace tare::format

// What happens when the event buffer of a thread is full. The policies (format::Policy):
//
//   block      the thread drains the buffer, or waits up to 10 ms for the node's tared to do so, and goes on. If the
//              buffer cannot be written, the policy becomes overwrite.
//   drop       records are dropped until there is room, counted, and the gap is marked in the trace.
//   overwrite  the oldest sub-buffer is overwritten: a flight recorder.
//
// The buffer itself is a ring of sub-buffers (format/ring.h, event_buffer.cpp); drain.cpp empties it.
#pragma once

#include <cstdint>

#include "format/ring.h"

namespace tare::recorder {

// The policy with that name; block if the name is unknown or nullptr.
format::Policy policy_of(const char* name) noexcept;

// The ProcessFlags of a policy.
std::uint32_t flags_of(format::Policy policy) noexcept;

// An event buffer of about `bytes` bytes of records; 0: of the usual size. `has_budget`: of a run with a budget.
format::RingShape ring_of(std::uint64_t bytes, format::Policy policy, bool has_tared, bool has_budget) noexcept;

}  // namespace tare::recorder

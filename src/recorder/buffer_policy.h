// The policy of an event buffer: what happens when it is full (format::Policy, full_buffer.h).
//
//   block      the thread drains the buffer, or waits up to 10 ms for the node's tared to do so, and goes on. If the
//              buffer cannot be written, the policy becomes overwrite.
//   drop       records are dropped until there is room, counted, and the gap is marked in the trace.
//   overwrite  the oldest sub-buffer is overwritten: a flight recorder.
#pragma once

#include <cstdint>
#include <cstring>

#include "format/process_record.h"
#include "format/ring.h"

namespace tare::recorder {

// The policy with that name; block if the name is unknown or nullptr.
inline format::Policy policy_of(const char* name) noexcept {
  if (name != nullptr && std::strcmp(name, "overwrite") == 0) return format::Policy::overwrite;
  if (name != nullptr && std::strcmp(name, "drop") == 0) return format::Policy::drop;
  return format::Policy::block;
}

// The ProcessFlags of a policy.
inline std::uint32_t flags_of(format::Policy policy) noexcept {
  if (policy == format::Policy::drop) return format::drops;
  return policy == format::Policy::overwrite ? format::overwrites : 0U;
}

}  // namespace tare::recorder

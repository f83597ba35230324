// Adds calls of other sources than MPI to the profile and the event buffer of a thread.
#pragma once

#include <cstdint>
#include <span>

#include "recorder/location.h"

namespace tare::recorder {

// A call of a function of another source than MPI, as it was measured.
struct SourceCall {
  std::uint16_t function;
  std::uint32_t site;        // number of the call site; 0: none
  std::uint32_t object;      // what it works on, as the source numbers it; 0: nothing
  std::uint32_t row_object;  // the same, or 0 if its row in the profile is that of all objects
  std::uint64_t enter;       // both: ticks
  std::uint64_t leave;
  std::uint64_t bytes;                       // format::no_bytes: it has moved none
  std::span<const std::uint64_t> arguments;  // as the table of the source names them, at most format::max_parameters
};

// Adds a call to the profile: it has a row of its call site, function, size and `row_object`. If there is a trace, the
// call becomes a format::SourceCallRecord. Nothing is added of a thread that is paused. Phases count the calls of MPI
// only. No function allocates or throws.
void commit_call(Location& location, const SourceCall& call, KnownRows& known) noexcept;

}  // namespace tare::recorder

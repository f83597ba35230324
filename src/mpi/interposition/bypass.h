// In spells that only count (recorder/spells.h), most calls bypass their wrapper.
// Other spells are compared with such spells, so a call should cost nothing in them. But a wrapper makes a stack frame
// and saves its arguments before it can find out that it has nothing to do: 10 ns, a third of the time of a measured
// call. So during such a spell, the stubs of most functions that send, receive and complete jump to a few instructions
// instead (src/arch/*/bypass.S). These increase two counters and jump on to the MPI library. One call in 1024 takes
// the wrapper, which lets the governor check whether the thread may record more (count_only() in measure.h).
//
// The slots belong to all threads of the process, but the spell only to one. So the instructions check whether the
// thread is to be measured, and jump to the wrapper if it is. The wrapper checks it, too, so it does no harm if a slot
// still leads there.
#pragma once

// Offsets that the instructions use. bypass.cpp checks them.
#define TARE_BLOCK 96           // offsetof(Location, events), which begins with the address of the block
#define TARE_COUNTS_ONLY 81     // offsetof(Location, counts_only)
#define TARE_COUNTED_CALLS 224  // offsetof(Location, counted_calls)
#define TARE_LOOKUPS 1152       // offsetof(LocationHeader, lookups)
// A call takes the wrapper if these bits of Location::counted_calls are 0.
#define TARE_CHECK_BITS 10

#ifndef __ASSEMBLER__

#  include "recorder/location.h"

namespace tare::mpi {

// Whether the governor is to check a thread before its next call that is only counted.
inline bool is_check_due(const recorder::Location& location) noexcept {
  return location.counted_calls % (1U << TARE_CHECK_BITS) == 0;
}

// To be called in a thread that begins or ends only counting, or that only counts when requests_open changes. Functions
// of a tool below (tool.h) keep their wrappers: calls that the tool makes for those of the program are part of them,
// and must be told from them.
void change_depth(const recorder::Location& location) noexcept;

}  // namespace tare::mpi

#endif

// In spells that only count (recorder/spells.h), most calls bypass their wrapper.
// Other spells are compared with such spells, so a call should cost nothing in them. But a wrapper makes a stack frame
// and saves its arguments before it can find out that it has nothing to do: 10 ns, a third of the time of a measured
// call. So during such a spell, the stubs of most functions that send, receive and complete jump to a few instructions
// instead (src/arch/*/bypass.S). These increase two counters and jump on to the MPI library. Now and then a call takes
// the wrapper, which checks how the spell goes on (recorder::check_counted).
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
#define TARE_UNTIL_CHECK 248    // offsetof(Location, until_check): if it becomes negative, the call takes the wrapper

#ifndef __ASSEMBLER__

#  include "recorder/location.h"

namespace tare::mpi {

// To be called in a thread that begins or ends only counting, or that only counts when requests_open changes. Functions
// of a tool below (tool.h) keep their wrappers: calls that the tool makes for those of the program are part of them,
// and must be told from them.
void change_depth(const recorder::Location& location) noexcept;

}  // namespace tare::mpi

#endif

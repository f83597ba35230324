// Spells that do not measure (recorder/spells.h): calls that are only counted go straight on.
//
// Such spells are what the others are compared with, so a call should cost nothing in them. A wrapper makes a stack
// frame and saves its arguments before it can find out that it has nothing to do: 10 ns, a third of what a measured
// call takes. So for the duration of such a spell the stubs of most functions that send, receive and complete jump to a
// few instructions instead (straight_<processor>.S), which add to two counters and jump on to the MPI library.
//
// They look whether the thread is to be measured, as its other threads are, so it does no harm that one of them comes
// there; nor that a slot still leads to the wrapper, which knows as well.
#pragma once

// Of what the instructions read and write; straight.cpp checks them.
#define TARE_COUNTS_ONLY 45     // offsetof(Location, counts_only)
#define TARE_COUNTED_CALLS 192  // offsetof(Location, counted_calls)
#define TARE_LOOKUPS 1152       // offsetof(LocationHeader, lookups)

#ifndef __ASSEMBLER__

#  include "recorder/location.h"

namespace tare::mpi {

// A spell begins, in the thread that it is of. Where another tool lies below, nothing changes: calls that it makes for
// the program's are part of these, and have to be told from them.
void begin_spell(const recorder::Location& location) noexcept;

}  // namespace tare::mpi

#endif

// Calls that do not return, or that begin inside others.
#pragma once

#include "format/functions.h"
#include "recorder/location.h"

namespace tare::mpi {

// Records the call that a thread has begun and left (stack/inside.h), as far as it is known. What it has moved is not
// known.
void record_left(recorder::Location& location) noexcept;

// A call begins inside another: made by MPI, by another tool, or (`in_callback`) by a callback of the program's, as a
// copy function of an attribute. It is part of the other call. If it communicates, what is recorded of the process from
// then on is not all that it sends, receives and takes part in (ProcessRecord::callbacks_since).
void begins_inside(format::Function function, bool in_callback) noexcept;

}  // namespace tare::mpi

// Calls that do not return, or that begin inside others.
#pragma once

#include "format/functions.h"
#include "recorder/location.h"

namespace tare::mpi {

// Records the call that a thread has begun and left (stack/inside.h), as far as it is known. What it has moved is not
// known.
void record_left(recorder::Location& location) noexcept;

// A call begins inside another: made by a callback or by MPI.
void begins_inside(format::Function function) noexcept;

}  // namespace tare::mpi

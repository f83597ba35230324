// Drains the buffers of a run's processes on this node, so that their threads need not.
//
// It takes full sub-buffers only, and copies them first: a copy is right if `drained` has not passed it since
// (format/ring.h). The chunks of a sub-buffer are the same whoever makes them, so a thread that does not wait, and
// whoever comes after a tared that was killed at any moment, writes at the worst a chunk twice, of which readers keep
// one. What it has written, it says with one compare-and-exchange of `drained`.
#pragma once

#include "tared/job.h"

namespace tare::tared {

// Returns when there is nothing more to do.
void drain(const Job& job);

}  // namespace tare::tared

// Drains the buffers of a run's processes on this node, so that their threads do not have to.
//
// It copies a full sub-buffer. The copy is valid if `drained` has not passed the sub-buffer since (format/ring.h). The
// chunks of a sub-buffer are always the same. So if a thread does not wait, or tared was killed at any moment, at worst
// a chunk is written twice, and readers keep one. tared publishes what it has written with one compare-and-exchange of
// `drained`.
#pragma once

#include "tared/job.h"

namespace tare::tared {

// Returns when nothing more is to be done.
void drain(const Job& job);

}  // namespace tare::tared

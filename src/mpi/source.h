#pragma once

#include "recorder/source.h"

namespace tare::mpi {

// MPI as a source of events. Locations are Threads (calls/thread.h).
extern const recorder::Source source;

}  // namespace tare::mpi

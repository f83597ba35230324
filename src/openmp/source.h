#pragma once

#include "recorder/source.h"

namespace tare::openmp {

// OpenMP as a source of events: its constructs (functions.toml). Locations are stack::Threads.
extern const recorder::Source source;

}  // namespace tare::openmp

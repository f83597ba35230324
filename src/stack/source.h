#pragma once

#include "recorder/source.h"

namespace tare::stack {

// Call paths, which sources of events use. They have no functions of their own, but take part in recording as sources
// do, before them. Locations are Threads (thread.h).
extern const recorder::Source call_paths;

}  // namespace tare::stack

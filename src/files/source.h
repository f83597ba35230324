#pragma once

#include "recorder/source.h"

namespace tare::files {

// Files as a source of events: calls of POSIX functions (functions.toml). Locations are stack::Threads.
extern const recorder::Source source;

}  // namespace tare::files

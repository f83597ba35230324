#pragma once

#include "recorder/source.h"

namespace tare::files {

// Files as a source of events: calls of POSIX functions (functions.toml). Locations are stack::Threads.
extern const recorder::Source source;

// Whether this process is the one that has loaded the library, or a fork of it; not a child of vfork.
bool is_own_process() noexcept;

}  // namespace tare::files

// Whether the process of a segment is still there, on this machine.
#pragma once

#include <string>

namespace tare::reader {

// True if the process `pid` runs and maps the segment file called `segment`: one that reuses the number, or
// has called exec since, does not map it. Where the mappings of a process may not be read (another user's),
// a process that exists counts as alive; zombies do not.
bool is_alive(unsigned pid, const std::string& segment);

// True if the process `pid` was stopped by a signal or a debugger.
bool is_stopped(unsigned pid);

// True if the process `pid` runs and maps any segment: for records without a segment.
inline bool is_measured(unsigned pid) { return is_alive(pid, "/tare-"); }

}  // namespace tare::reader

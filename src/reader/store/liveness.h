// Whether the process that made a segment still runs on this machine.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

namespace tare::reader {

// What is known of the process that made a segment.
struct Maker {
  std::optional<uid_t> owner;         // owner of the segment file
  std::uint64_t began_recording = 0;  // CLOCK_MONOTONIC_RAW, nanoseconds; 0: not known
};

// True if the process `pid` runs and maps the segment file called `segment`. A process that reuses the pid, or that has
// called exec since then, does not map it. If the mappings may not be read because the process is of another user, it
// counts as alive if it can be the maker: its user is not known to be another one, and it started before the recording
// began. False for zombies.
bool is_alive(unsigned pid, const std::string& segment, const Maker& maker = {});

// True if the process `pid` was stopped by a signal or a debugger.
bool is_stopped(unsigned pid);

// The end of the names of the segments of a process, which is unique to it: for is_alive() if the segment no longer
// exists.
std::string segment_suffix(unsigned pid, std::uint64_t process);

}  // namespace tare::reader

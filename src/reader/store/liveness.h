// Whether the process of a segment is still there, on this machine.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

namespace tare::reader {

// What is known of the process that made a segment.
struct Maker {
  std::optional<uid_t> owner;         // of the segment
  std::uint64_t began_recording = 0;  // CLOCK_MONOTONIC_RAW, nanoseconds; 0: not known
};

// True if the process `pid` runs and maps the segment file called `segment`: one that reuses the number, or
// has called exec since, does not map it. Where the mappings of a process may not be read (another user's), it counts
// as alive if it can be the maker: of the same user, as far as that is shown, and started before it recorded. Zombies
// do not.
bool is_alive(unsigned pid, const std::string& segment, const Maker& maker = {});

// True if the process `pid` was stopped by a signal or a debugger.
bool is_stopped(unsigned pid);

// The end of the name of a segment of a process, which no other has: for records without a segment.
std::string segment_suffix(unsigned pid, std::uint64_t process);

}  // namespace tare::reader

// Moves what dead processes left behind in shared memory to the run directory.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "reader/result.h"
#include "reader/run/endings.h"
#include "reader/run/run.h"

namespace tare::reader {

struct Collected {
  std::uint64_t processes = 0;         // dead processes whose segments were written and removed
  std::uint64_t running = 0;           // processes that still run; their segments are not touched
  std::uint64_t unknown = 0;           // of which nothing here tells whether they run; not touched either
  std::uint64_t recovered_events = 0;  // records found in event buffers
  std::uint64_t kept = 0;              // segments kept because the directory cannot be written
  std::vector<std::string> messages;   // one line each; the last one says why segments were kept, if any were
};

// Returns how the process of a segment ended, if it is known. Only called for processes that have ended, and whose pid
// is their number here, too.
using EndingOf = std::function<std::optional<Ending>(const SegmentName& segment)>;

// For each segment whose process has ended, appends what is not yet on disk to <host>.tare, the profile before the
// events, and removes the segment. Then stores the symbols of new call sites. A segment is removed only after all of it
// has been written; if writing fails, it stays. May be killed at any moment and called again: readers count a chunk
// once that was written twice. Fails only if the arguments are not valid or the run directory cannot be read.
//
// `command_ended_ns`: CLOCK_MONOTONIC_RAW at which the command ended that started the processes of this machine, if
// known. Killed processes are taken to have run until then, unless `ending_of` knows the time of their end.
//
// `presume_ended`: processes of which nothing tells whether they run have ended; the user says so.
Result<Collected> collect(const RunPaths& paths, std::optional<std::uint64_t> command_ended_ns = std::nullopt,
                          const EndingOf& ending_of = {}, bool presume_ended = false);

}  // namespace tare::reader

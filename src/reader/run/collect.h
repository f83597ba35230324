// What dead processes left behind in shared memory, moved to the run directory.
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
  std::uint64_t processes = 0;         // drained
  std::uint64_t running = 0;           // left alone
  std::uint64_t recovered_events = 0;  // found in buffers
  std::uint64_t kept = 0;              // segments kept because the directory cannot be written
  std::vector<std::string> messages;   // one line each; the last one says why segments were kept, if any were
};

// How the process of a segment ended; asked when it has.
using EndingOf = std::function<std::optional<Ending>(const SegmentName& segment)>;

// `command_ended_ns`: CLOCK_MONOTONIC_RAW when the command had ended that started the processes of this machine, if
// it is known: killed ones count as running until then, but for those of which `ending_of` knows more.
//
// Appends what is not yet on disk of every segment whose process is gone to <host>.tare, the profile before
// the events, removes the segment, and stores the symbols of new call sites. May be killed at any moment and
// called again: a chunk written twice counts once, and a segment goes only when all of it is written. Where
// writing fails the segment stays. Fails only if the run directory cannot be read.
Result<Collected> collect(const RunPaths& paths, std::optional<std::uint64_t> command_ended_ns = std::nullopt,
                          const EndingOf& ending_of = {});

}  // namespace tare::reader

// Moves the segments that processes have left in shared memory to the run directory. Finds out no symbols, and so needs
// no library but those of the format.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "reader/run/endings.h"
#include "reader/run/run_paths.h"
#include "reader/store/run_files.h"
#include "reader/store/segment_file.h"

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

struct Collecting {
  // CLOCK_MONOTONIC_RAW at which the command ended that started the processes of this machine, if known. Killed
  // processes are taken to have run until then, unless `ending_of` knows the time of their end.
  std::optional<std::uint64_t> command_ended_ns{};
  EndingOf ending_of{};
  // Processes of which nothing tells whether they run have ended; the user says so.
  bool presume_ended = false;
  // What processes that live have recorded so far is written, too; their segments stay, and so do those of which
  // nothing tells whether they run.
  bool saves_living = false;
  // Nothing is moved, and nothing removed: what processes of this machine have recorded so far, whether they live or
  // not, is written to `file`, but for their events. Where it says that a process runs, this is so (told_living).
  bool copies = false;
  // A process that is about to begin lives, also if its number means nothing here.
  bool waits_for_beginners = false;
  // The name of the file that is written; empty: <host>.tare.
  std::string file{};
  // What the run directory holds; nullptr: those files whose names begin as `file` are opened if they are needed.
  const RunFiles* files = nullptr;
};

// For each segment whose process has ended, appends what is not on disk to the file of its node, the profile before
// the events, and removes the segment. A segment is removed only after all of it has been written; if writing fails, it
// stays. May be killed at any moment and called again: readers count a chunk once that was written twice.
Collected collect_left(const RunPaths& paths, const Collecting& how);

}  // namespace tare::reader

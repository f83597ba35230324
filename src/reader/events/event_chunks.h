// The event chunks of a run: those on disk, and the content of segments' buffers, encoded as if drained.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "reader/events/event_filter.h"
#include "reader/run/run.h"

namespace tare::reader {

struct EventChunks {
  // The chunks that may contain wanted events. The run must outlive the result.
  static Result<EventChunks> of(const Run& run, const EventFilter& filter, const EventChoice& choice);

  // The chunks of one location block.
  struct Block {
    const Process* process;
    std::vector<ChunkRef> chunks;  // in the order of their sequence, which has gaps if chunks were overwritten
  };
  std::vector<Block> blocks;
  std::vector<std::string> file_names;  // by ChunkRef::file
  std::vector<std::string> warnings;    // of segments

  // Keep the chunks valid:
  RunFiles files;                   // scanned again, because the run may be going on
  std::deque<std::string> buffers;  // encoded
};

}  // namespace tare::reader

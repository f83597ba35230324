// The event chunks of a run: those on disk, and the contents of event buffers in segments, encoded as if they had been
// drained.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "reader/events/event_filter.h"
#include "reader/run/run.h"

namespace tare::reader {

struct EventChunks {
  // The chunks that may contain wanted events. The run must outlive the result.
  static Result<EventChunks> of(const Run& run, const EventFilter& filter, const EventChoice& choice);

  // All chunks of events.
  static Result<EventChunks> of(const Run& run);

  // The chunks of one location block.
  struct Block {
    const Process* process;
    std::vector<ChunkRef> chunks;  // in the order of their sequence, which has gaps if chunks were overwritten
  };
  std::vector<Block> blocks;
  std::vector<std::string> file_names;  // by ChunkRef::file
  std::vector<std::string> warnings;    // about segments

  // The memory of the chunks:
  RunFiles files;                   // opened again if the run goes on
  std::deque<std::string> buffers;  // encoded contents of event buffers
};

}  // namespace tare::reader

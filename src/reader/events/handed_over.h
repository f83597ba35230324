// The requests of a process whose threads complete requests of other threads. A table shows one location after another.
// But the request that a number means depends on what all threads did before, in the order of time. So it is found by
// reading their chunks first.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "reader/events/event_chunks.h"
#include "reader/events/event_filter.h"
#include "reader/events/open_requests.h"

namespace tare::reader {

class HandedOver {
 public:
  // For no process.
  HandedOver() = default;
  // `blocks`: all blocks of a process. Unreadable chunks are left out, and those that the filter skips.
  HandedOver(std::span<const EventChunks::Block> blocks, const EventFilter& filter);

  std::size_t blocks() const { return found_.size(); }
  // The requests of the completions with a number (EventColumns::Completions) of a chunk, in order. `chunk`: index in
  // the block.
  std::span<const StartedRequest> of_chunk(std::size_t block, std::size_t chunk) const {
    const Found& found = found_[block];
    return std::span(found.requests).subspan(found.first[chunk], found.first[chunk + 1] - found.first[chunk]);
  }

 private:
  struct Found {  // in a block
    std::vector<StartedRequest> requests;
    std::vector<std::size_t> first;  // by chunk, and one more
  };
  class Reading;

  std::vector<Found> found_;  // by block
};

}  // namespace tare::reader

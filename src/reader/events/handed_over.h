// The requests of a process whose threads complete what others started. A table shows one location after another; but
// which request a number means depends on what all threads did before, in the order of time: so it is found in a
// reading of their chunks that goes before.
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
  // Of none.
  HandedOver() = default;
  // `blocks`: all of a process. Chunks that cannot be read are left out, as are those that the filter skips.
  HandedOver(std::span<const EventChunks::Block> blocks, const EventFilter& filter);

  std::size_t blocks() const { return found_.size(); }
  // What those completions of a chunk have completed that say a number (EventColumns::Completions), in their order.
  // `chunk`: index in the block.
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

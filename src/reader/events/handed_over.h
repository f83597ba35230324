// Finds the requests of a process whose threads complete requests of one another. Events are read one location after
// another, but the meaning of the number of a request depends on what all threads did before. So the chunks of all
// threads are read first, in the order of time.
#pragma once

#include <cstddef>
#include <optional>
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
  // For the process to which the first block belongs, if its threads may complete requests of one another. `blocks`:
  // all blocks of the process, and perhaps those of others behind them. Chunks that cannot be read, or that the filter
  // skips, are left out.
  static HandedOver of_process(std::span<const EventChunks::Block> blocks, const EventFilter& filter);

  // The requests of the completions with a number (EventColumns::Completions) of a chunk, in order. `chunk`: index in
  // the block.
  std::optional<std::span<const StartedRequest>> of_chunk(std::size_t block, std::size_t chunk) const {
    if (block >= found_.size()) return std::nullopt;
    const Found& found = found_[block];
    return std::span(found.requests).subspan(found.first[chunk], found.first[chunk + 1] - found.first[chunk]);
  }

 private:
  struct Found {  // the requests of a block
    std::vector<StartedRequest> requests;
    std::vector<std::size_t> first;  // by chunk: index of its first request; one more element for the end
  };
  class Reading;

  HandedOver(std::span<const EventChunks::Block> blocks, const EventFilter& filter);

  std::vector<Found> found_;  // by block
};

}  // namespace tare::reader

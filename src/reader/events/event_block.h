// The chunks of one location block, decoded one after another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "format/event_columns.h"
#include "reader/events/event_chunks.h"
#include "reader/events/event_filter.h"
#include "reader/events/open_requests.h"

namespace tare::reader {

// Where a chunk is.
struct ChunkPlace {
  const Process* process;
  std::uint32_t thread;
  bool continues;  // no chunk is missing between this one and the chunk of the block before
  bool is_last;    // it is the last chunk of its thread in the block
  // If threads of the process may complete requests of one another: the requests of the completions with a number, in
  // order.
  std::optional<std::span<const StartedRequest>> completed{};
};

class EventBlock {
 public:
  // Memory for one chunk, which blocks may share.
  struct Decoded {
    std::vector<char> raw;
    format::EventColumns columns;
  };

  // The block must outlive the object.
  explicit EventBlock(const EventChunks::Block& block) : block_(&block) {}

  // Decodes the next chunk. False at the end. A chunk that is damaged, or that the filter skips, counts as empty.
  // Chunks after the wanted times are left out.
  bool next(const EventFilter& filter, Decoded& decoded);

  // Of the chunk that was decoded last:
  ChunkPlace place{};
  const ChunkRef& chunk() const { return block_->chunks[number()]; }
  std::size_t number() const { return next_ - 1; }  // its index in the block
  std::string damage;                               // why it cannot be read; empty: it can

 private:
  const EventChunks::Block* block_;
  std::size_t next_ = 0;
  std::uint32_t next_sequence_ = 0;
  bool is_at_end_ = false;
};

}  // namespace tare::reader

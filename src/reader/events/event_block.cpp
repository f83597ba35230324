#include "reader/events/event_block.h"

namespace tare::reader {

bool EventBlock::next(const EventFilter& filter, Decoded& decoded) {
  if (is_at_end_ || next_ == block_->chunks.size()) return false;
  const ChunkRef& ref = block_->chunks[next_++];
  const Process& process = *block_->process;
  format::EventColumns& columns = decoded.columns;
  const bool is_last = next_ == block_->chunks.size() || block_->chunks[next_].header.location != ref.header.location;
  place = {&process, ref.header.location, ref.header.sequence == next_sequence_, is_last};
  next_sequence_ = ref.header.sequence + 1;
  damage.clear();
  if (filter.skips(process, ref)) {
    columns = {};
  } else if (!load_chunk(ref, decoded.raw, damage) ||
             !format::decode_columns(ref.header, decoded.raw.data(), decoded.raw.size(), columns, damage)) {
    columns = {};
    place.continues = false;
    next_sequence_ = ref.header.sequence;  // the next chunk does not continue it, either
  }
  const auto& enter = columns.calls.enter;
  if (filter.end_ns && !enter.empty() && process.shown(place.thread, process.time_of(enter.front())) >= *filter.end_ns)
    is_at_end_ = place.is_last = true;  // all further chunks of the block are later
  return true;
}

}  // namespace tare::reader

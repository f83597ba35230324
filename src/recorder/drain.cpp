// How a thread drains its own event buffer: it encodes and compresses the records, and appends them to the node's file.
#include <atomic>
#include <cstring>
#include <utility>

#include "recorder/event_chunks.h"
#include "recorder/location.h"
#include "recorder/node_file.h"
#include "recorder/process_end.h"
#include "recorder/segment.h"
#include "recorder/system.h"

namespace tare::recorder {

bool Location::drain(std::uint64_t enter) noexcept {
  format::SegmentHeader* segment = recorder::segment();
  if (segment == nullptr || !traced()) return true;
  const std::uint64_t open = open_ordinal();
  format::Drained drained = format::Drained::of(shared->drained.load(std::memory_order_relaxed));
  if (open_bytes() == 0 && drained.waiting(open) <= 1) return true;
  if (wait_if_ended()) {
    open_sub_buffer(open);
    return true;
  }
  const ErrnoGuard guard;
  // The process record is written early, so that a file that is cut off, or whose process was killed, names the rank.
  if (shared->summary.flushes == 0) write_process(*segment);
  note_name();
  write_definitions(*segment);
  Written all;
  std::uint64_t raw_bytes = 0;
  while (!drained.has_passed(open)) {
    const std::uint64_t ordinal = open + 1 - drained.waiting(open);
    const format::SubBufferHead& from = sub_buffer(ordinal);
    const std::uint64_t bytes = ordinal == open ? open_bytes() : from.bytes;
    const Written written = write_records(*segment, {shared->block, from.thread, drained.sequence},
                                          reinterpret_cast<const char*>(&from + 1), bytes);
    all.lost = written.lost;
    if (written.lost != 0) {
      keep_newest(written.error);
      break;
    }
    const format::Drained since{static_cast<std::uint32_t>(ordinal + 1),
                                ring.sequence_behind(ordinal, drained.sequence, written.chunks)};
    std::uint64_t word = drained.word();
    if (!shared->drained.compare_exchange_strong(word, since.word(), std::memory_order_acq_rel)) {
      drained = format::Drained::of(word);  // tared was faster, and has written the same chunks
      continue;
    }
    drained = since;
    raw_bytes += bytes;
    all.records += written.records;
    all.bytes += written.bytes;
  }
  note_clock();
  format::LocationSummary& summary = shared->summary;
  const std::uint64_t leave = now();
  summary.events += all.records;
  summary.flush_raw_bytes += raw_bytes;
  summary.flush_bytes += all.bytes;
  if (all.lost != 0) {
    ++summary.flushes;
    summary.flush_ticks += leave - enter;
    return false;
  }
  open_sub_buffer(open + 1);
  note_flush(all.records, enter, leave, all.bytes);
  return true;
}

void Location::note_flush(std::uint64_t records, std::uint64_t enter, std::uint64_t leave,
                          std::uint64_t bytes) noexcept {
  shared->summary.flush_ticks += leave - enter;
  ++shared->summary.flushes;
  const format::FlushRecord record{
      {format::flush, sizeof record / 8}, static_cast<std::uint32_t>(records), enter, leave, bytes};
  std::memcpy(base + head, &record, sizeof record);
  head += sizeof record;
  shared->head.store(head, std::memory_order_release);
}

void Location::flush() noexcept {
  const bool was_paused = mode == Mode::paused;
  pause(false);
  if (gap_begin != 0) limit = limit_behind_gap;
  drain();
  if (gap_begin != 0) limit_behind_gap = std::exchange(limit, 0);
  pause(was_paused);
}

}  // namespace tare::recorder

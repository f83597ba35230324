#include "recorder/drain.h"

#include "recorder/errno_guard.h"
#include "recorder/event_chunks.h"
#include "recorder/last_write.h"
#include "recorder/process_chunks.h"
#include "recorder/segment.h"

namespace tare::recorder {
namespace {

// What was written of a buffer.
struct Total {
  std::uint64_t records = 0;
  std::uint64_t raw_bytes = 0;  // of the records in the buffer
  std::uint64_t bytes = 0;      // on disk
  bool failed = false;
};

Total write_sub_buffers(const format::SegmentHeader& segment, EventBuffer& events, format::Drained drained) noexcept {
  const std::uint64_t open = events.open_ordinal();
  Total total;
  while (!drained.has_passed(open)) {
    const std::uint64_t ordinal = open + 1 - drained.waiting(open);
    const format::SubBufferHead& from = events.sub_buffer(ordinal);
    const std::uint64_t bytes = ordinal == open ? events.open_bytes() : from.bytes;
    const Written written = write_records(segment, {events.shared->block, from.thread, drained.sequence},
                                          reinterpret_cast<const char*>(&from + 1), bytes);
    if (written.lost != 0) {
      events.keep_newest(written.error);
      total.failed = true;
      break;
    }
    const format::Drained since{static_cast<std::uint32_t>(ordinal + 1),
                                events.ring.sequence_behind(ordinal, drained.sequence, written.chunks)};
    std::uint64_t word = drained.word();
    if (!events.shared->drained.compare_exchange_strong(word, since.word(), std::memory_order_acq_rel)) {
      drained = format::Drained::of(word);  // tared was faster, and has written the same chunks
      continue;
    }
    drained = since;
    total.raw_bytes += bytes;
    total.records += written.records;
    total.bytes += written.bytes;
  }
  return total;
}

}  // namespace

bool drain(EventBuffer& events, ThreadName& name, std::uint64_t enter) noexcept {
  format::SegmentHeader* segment = recorder::segment();
  if (segment == nullptr || !events.has_trace()) return true;
  const std::uint64_t open = events.open_ordinal();
  const format::Drained drained = events.drained();
  if (events.open_bytes() == 0 && drained.waiting(open) <= 1) return true;
  if (wait_if_ended()) {
    events.open_sub_buffer(open);
    return true;
  }
  const ErrnoGuard guard;
  format::LocationSummary& summary = events.shared->summary;
  // The process record is written early, so that a file that is cut off, or whose process was killed, names the rank.
  if (summary.flushes == 0) write_process(*segment);
  name.note(summary.number);
  write_definitions(*segment);
  const Total total = write_sub_buffers(*segment, events, drained);
  note_clock();
  const std::uint64_t leave = now();
  summary.events += total.records;
  summary.flush_raw_bytes += total.raw_bytes;
  summary.flush_bytes += total.bytes;
  if (total.failed) {
    ++summary.flushes;
    summary.flush_ticks += leave - enter;
    return false;
  }
  events.open_sub_buffer(open + 1);
  events.note_drain(total.records, enter, leave, total.bytes);
  return true;
}

void write_references(const EventBuffer& events, ThreadName& name) noexcept {
  format::SegmentHeader* segment = recorder::segment();
  if (segment == nullptr) return;
  const ErrnoGuard guard;
  if (events.drained().sub_buffers == 0) write_process(*segment);
  name.note(events.shared->summary.number);
  write_definitions(*segment);
}

}  // namespace tare::recorder

// Draining a location's buffer inline, by its own thread: encode, compress, append. Measured against a
// separate drainer in bench/ (see ARCHITECTURE.md).

#include <atomic>

#include "format/event_codec.h"
#include "recorder/location.h"
#include "recorder/node_file.h"
#include "recorder/process.h"
#include "recorder/system.h"

namespace tare::recorder {
namespace {

struct Drained {
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;
  std::uint64_t lost = 0;
  std::uint32_t chunks = 0;
};

// Encodes and appends everything in the buffer; what cannot be written is lost.
Drained write_buffer(Location& location, const format::SegmentHeader& segment) noexcept {
  const format::LocationHeader& shared = *location.shared;
  Drained drained;
  for (std::uint64_t done = 0; done < location.head;) {
    format::ChunkHeader header = identity(segment, format::ChunkType::events);
    header.location = shared.summary.number;
    header.block = shared.block;
    header.sequence = shared.sequence + drained.chunks;
    const auto chunk =
        location.encoder.encode(header, location.buffer + done, location.head - done, segment.process.tick_shift);
    if (chunk.data == nullptr) break;
    done += chunk.consumed;
    ++drained.chunks;
    if (append_chunk(chunk.data, chunk.bytes)) {
      drained.records += chunk.records;
      drained.bytes += chunk.bytes;
    } else {
      drained.lost += chunk.records;
    }
  }
  return drained;
}

template <class Record>
void put(Location& location, const Record& record) noexcept {
  std::memcpy(location.buffer + location.head, &record, sizeof record);
  location.head += sizeof record;
}

}  // namespace

void Location::drain() noexcept {
  format::SegmentHeader* segment = recorder::segment();
  if (segment == nullptr || capacity == 0 || head == 0) return;
  if (wait_if_ended()) {
    head = 0;
    return;
  }
  const ErrnoGuard guard;
  const std::uint64_t enter = now();
  const std::uint64_t raw_bytes = head;
  // Once early, so that the events of a file that is cut off, or whose process was killed, have a rank.
  if (shared->summary.flushes == 0) write_process(*segment);
  note_name();
  write_definitions(*segment);
  const Drained drained = write_buffer(*this, *segment);
  note_clock();

  // Emptied first, numbered after: between the two a collector finds an empty buffer, never old records
  // under a new number.
  head = 0;
  shared->head.store(0, std::memory_order_release);
  std::atomic_ref(shared->sequence).store(shared->sequence + drained.chunks, std::memory_order_release);
  format::LocationSummary& summary = shared->summary;
  const std::uint64_t leave = now();
  summary.events += drained.records + drained.lost;
  summary.dropped += drained.lost;
  summary.flush_raw_bytes += raw_bytes;
  summary.flush_bytes += drained.bytes;
  summary.flush_ticks += leave - enter;
  ++summary.flushes;
  if (drained.lost != 0)
    put(*this, format::LossRecord{{format::loss, sizeof(format::LossRecord) / 8}, 0, enter, leave, drained.lost});
  put(*this, format::FlushRecord{{format::flush, sizeof(format::FlushRecord) / 8},
                                 static_cast<std::uint32_t>(drained.records),
                                 enter,
                                 leave,
                                 drained.bytes});
  shared->head.store(head, std::memory_order_release);
}

}  // namespace tare::recorder

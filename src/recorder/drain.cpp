// Draining a location's buffer inline, by its own thread: encode, compress, append. And what else becomes of a full
// buffer: see format/ring.h.
#include "recorder/drain.h"

#include <atomic>
#include <new>

#include "recorder/location.h"
#include "recorder/node_file.h"
#include "recorder/process.h"
#include "recorder/system.h"

namespace tare::recorder {

struct BorrowedEncoder::Entry {
  Entry* next;
  format::EventEncoder encoder;
};

namespace {

constinit BorrowedEncoder::Entry* idle_encoders = nullptr;
constinit SpinLock encoders_lock;

constexpr std::size_t entry_bytes = (sizeof(BorrowedEncoder::Entry) + 63) / 64 * 64;

BorrowedEncoder::Entry* new_encoder() noexcept {
  auto* memory = static_cast<char*>(map_memory(entry_bytes + format::EventEncoder::workspace_bytes()));
  return memory == nullptr ? nullptr
                           : new (memory) BorrowedEncoder::Entry{nullptr, format::EventEncoder(memory + entry_bytes)};
}

template <class Record>
void put(Location& location, const Record& record) noexcept {
  std::memcpy(location.base + location.head, &record, sizeof record);
  location.head += sizeof record;
}

}  // namespace

BorrowedEncoder::BorrowedEncoder() noexcept {
  encoders_lock.lock();
  entry_ = idle_encoders;
  if (entry_ != nullptr) idle_encoders = entry_->next;
  encoders_lock.unlock();
  if (entry_ == nullptr) entry_ = new_encoder();
}

BorrowedEncoder::~BorrowedEncoder() {
  if (entry_ == nullptr) return;
  encoders_lock.lock();
  entry_->next = idle_encoders;
  idle_encoders = entry_;
  encoders_lock.unlock();
}

format::EventEncoder* BorrowedEncoder::operator->() const noexcept { return &entry_->encoder; }

void release_encoders() noexcept {
  encoders_lock.reset();
  idle_encoders = nullptr;  // the list may be in two halves
}

Written write_records(const format::SegmentHeader& segment, const Source& source, const char* records,
                      std::uint64_t bytes) noexcept {
  Written written;
  const BorrowedEncoder encoder;
  if (!encoder) written.lost = format::count_records(records, bytes);
  for (std::uint64_t done = 0; encoder && done < bytes;) {
    format::ChunkHeader header = identity(segment, format::ChunkType::events);
    header.location = source.thread;
    header.block = source.block;
    header.sequence = source.sequence + written.chunks;
    const auto chunk = encoder->encode(header, records + done, bytes - done, segment.process.tick_shift);
    if (chunk.data == nullptr) break;
    done += chunk.consumed;
    ++written.chunks;
    if ((segment.process.flags & format::not_written) != 0 || append_chunk(chunk.data, chunk.bytes)) {
      written.records += chunk.records;
      written.bytes += chunk.bytes;
    } else {
      written.lost += chunk.records;
    }
  }
  return written;
}

format::SubBufferHead& Location::sub_buffer(std::uint64_t ordinal) noexcept {
  char* ring_memory = format::buffer_of(shared, row_capacity);
  return *reinterpret_cast<format::SubBufferHead*>(ring_memory + ring.place(ordinal));
}

void Location::open_sub_buffer(std::uint64_t ordinal) noexcept {
  format::SubBufferHead& opened = sub_buffer(ordinal);
  opened.thread = shared->summary.number;
  base = reinterpret_cast<char*>(&opened) - ordinal * ring.stride();
  head = ring.begin(ordinal);
  gap = nullptr;
  limit = ring.end(ordinal) - (ring.policy == format::Policy::drop ? sizeof *gap : 0);
  shared->head.store(head, std::memory_order_release);
}

void Location::begin_thread() noexcept {
  if (head == 0)
    open_sub_buffer(0);
  else if (open_bytes() == 0)
    open_sub_buffer(open_ordinal());
  else
    make_room(false);
}

void Location::next_sub_buffer(std::uint64_t open) noexcept {
  sub_buffer(open).bytes = open_bytes();
  open_sub_buffer(open + 1);
}

// Reads of its records that began before are void from here on, so this comes before the first new record.
void Location::forget_oldest(format::Drained drained, std::uint64_t open) noexcept {
  const std::uint64_t oldest = open + 1 - drained.waiting(open);
  shared->summary.overwritten_bytes += sub_buffer(oldest).bytes;
  drained = {static_cast<std::uint32_t>(oldest + 1), ring.sequence_behind(oldest, drained.sequence, 0)};
  shared->drained.exchange(drained.word(), std::memory_order_acq_rel);
}

void Location::drop() noexcept {
  const std::uint64_t time = now();
  if (gap == nullptr) {  // there is room for it: see open_sub_buffer
    gap = new (base + head) format::LossRecord{{format::loss, sizeof *gap / 8}, 0, time, time, 0};
    limit = head + sizeof *gap;
    publish(sizeof *gap);
  }
  ++gap->records;
  gap->leave = time;
  ++shared->summary.events;
  ++shared->summary.dropped;
}

bool Location::make_room(bool continues) noexcept {
  const std::uint64_t open = open_ordinal();
  const auto drained = format::Drained::of(shared->drained.load(std::memory_order_acquire));
  const bool full = drained.waiting(open) >= ring.count;
  // What belongs to a dropped record is dropped with it.
  if (ring.policy == format::Policy::drop && (full || (continues && gap != nullptr))) {
    drop();
    return false;
  }
  if (full && ring.policy == format::Policy::block) {
    drains_seen = drains_of_node->fetch_add(1, std::memory_order_relaxed) + 1;
    drain();
    return true;
  }
  if (full && wait_if_ended()) {
    open_sub_buffer(open);
    return true;
  }
  if (full) forget_oldest(drained, open);
  next_sub_buffer(open);
  return true;
}

void Location::drain_in_step() noexcept {
  drains_seen = drains_of_node->load(std::memory_order_relaxed);
  if (ring.policy != format::Policy::block) return;
  const auto drained = format::Drained::of(shared->drained.load(std::memory_order_relaxed));
  const std::uint64_t full = drained.waiting(open_ordinal()) - 1;  // and one is being filled
  if (2 * (full * ring.bytes + open_bytes()) >= std::uint64_t{ring.count} * ring.bytes) drain();
}

void Location::drain() noexcept {
  format::SegmentHeader* segment = recorder::segment();
  if (segment == nullptr || !traced()) return;
  const std::uint64_t open = open_ordinal();
  format::Drained drained = format::Drained::of(shared->drained.load(std::memory_order_relaxed));
  if (open_bytes() == 0 && drained.waiting(open) <= 1) return;
  if (wait_if_ended()) return open_sub_buffer(open);
  const ErrnoGuard guard;
  const std::uint64_t enter = now();
  // Once early, so that the events of a file that is cut off, or whose process was killed, have a rank.
  if (shared->summary.flushes == 0) write_process(*segment);
  note_name();
  write_definitions(*segment);
  Written all;
  std::uint64_t raw_bytes = 0;
  for (std::uint64_t ordinal = open + 1 - drained.waiting(open); ordinal <= open; ++ordinal) {
    const format::SubBufferHead& from = sub_buffer(ordinal);
    const std::uint64_t bytes = ordinal == open ? open_bytes() : from.bytes;
    const Written written = write_records(*segment, {shared->block, from.thread, drained.sequence},
                                          reinterpret_cast<const char*>(&from + 1), bytes);
    drained = {static_cast<std::uint32_t>(ordinal + 1),
               ring.sequence_behind(ordinal, drained.sequence, written.chunks)};
    shared->drained.store(drained.word(), std::memory_order_release);
    raw_bytes += bytes;
    all.records += written.records;
    all.bytes += written.bytes;
    all.lost += written.lost;
  }
  note_clock();
  format::LocationSummary& summary = shared->summary;
  const std::uint64_t leave = now();
  summary.events += all.records + all.lost;
  summary.dropped += all.lost;
  summary.flush_raw_bytes += raw_bytes;
  summary.flush_bytes += all.bytes;
  summary.flush_ticks += leave - enter;
  ++summary.flushes;
  open_sub_buffer(open + 1);
  if (all.lost != 0)
    put(*this, format::LossRecord{{format::loss, sizeof(format::LossRecord) / 8}, 0, enter, leave, all.lost});
  put(*this, format::FlushRecord{{format::flush, sizeof(format::FlushRecord) / 8},
                                 static_cast<std::uint32_t>(all.records),
                                 enter,
                                 leave,
                                 all.bytes});
  shared->head.store(head, std::memory_order_release);
}

}  // namespace tare::recorder

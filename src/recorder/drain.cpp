// Draining a location's buffer: encode, compress, append; inline, by its own thread, or from another process. And what
// else becomes of a full buffer: see format/ring.h.
#include "recorder/drain.h"

#include <atomic>
#include <cerrno>
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

// Not memcpy, which a race detector would look into.
[[gnu::no_sanitize("thread")]] void copy_words(void* out, const void* in, std::uint64_t bytes) noexcept {
  auto* to = static_cast<std::uint64_t*>(out);
  const auto* words = static_cast<const volatile std::uint64_t*>(in);
  for (std::uint64_t i = 0; i < bytes / 8; ++i) to[i] = words[i];
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
      written.error = errno;
    }
  }
  return written;
}

bool copy_sub_buffer(const format::SegmentHeader& segment, format::LocationHeader& block, std::uint64_t ordinal,
                     std::uint64_t head, std::uint64_t* copy, format::SubBufferHead& from) noexcept {
  const format::RingShape& ring = segment.ring;
  const char* place = format::buffer_of(&block, segment.row_capacity) + ring.place(ordinal);
  copy_words(&from, place, sizeof from);
  if (ordinal == ring.ordinal(head)) from.bytes = head - ring.begin(ordinal);
  if (from.bytes <= ring.bytes) copy_words(copy, place + sizeof from, from.bytes);
  // Adding nothing: a load that the copy cannot be moved behind.
  return !format::Drained::of(block.drained.fetch_add(0, std::memory_order_acq_rel)).has_passed(ordinal) &&
         from.bytes <= ring.bytes;
}

Handled drain_one_full(const format::SegmentHeader& segment, format::LocationHeader& block, std::uint32_t number,
                       std::uint64_t* copy) noexcept {
  const format::RingShape& ring = segment.ring;
  const std::uint64_t head = block.head.load(std::memory_order_acquire);
  if (head == 0) return Handled::nothing;
  std::uint64_t word = block.drained.load(std::memory_order_acquire);
  const auto drained = format::Drained::of(word);
  const std::uint64_t waiting = drained.waiting(ring.ordinal(head));
  if (waiting <= 1 || waiting > ring.count) return Handled::nothing;
  const std::uint64_t ordinal = ring.ordinal(head) + 1 - waiting;
  const std::uint64_t enter = now();
  format::SubBufferHead from{};
  if (!copy_sub_buffer(segment, block, ordinal, head, copy, from))
    return from.bytes > ring.bytes ? Handled::failed : Handled::one;
  const Written written =
      write_records(segment, {number, from.thread, drained.sequence}, reinterpret_cast<const char*>(copy), from.bytes);
  if (written.lost != 0) return Handled::failed;
  const std::uint64_t leave = now();
  const format::FlushRecord record{
      {format::flush, sizeof record / 8}, static_cast<std::uint32_t>(written.records), enter, leave, written.bytes};
  write_records(segment, {number | format::tared_block, from.thread, static_cast<std::uint32_t>(ordinal)},
                reinterpret_cast<const char*>(&record), sizeof record);
  const format::Drained since{static_cast<std::uint32_t>(ordinal + 1), drained.sequence + written.chunks};
  if (!block.drained.compare_exchange_strong(word, since.word(), std::memory_order_acq_rel)) return Handled::one;
  block.tared.drains += 1;
  block.tared.ticks += leave - enter;
  block.tared.records += written.records;
  block.tared.raw_bytes += from.bytes;
  block.tared.bytes += written.bytes;
  wake(&block.drained);
  return Handled::one;
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
  const bool served = tared_serves();
  if (served) write_references();
  sub_buffer(open).bytes = open_bytes();
  open_sub_buffer(open + 1);
  if (served) call_tared();
}

// Where a full disk would lose what comes next: the last events before a crash are worth more than those before them.
void Location::keep_newest(int error) noexcept {
  ring.policy = format::Policy::overwrite;
  const bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
  shared->summary.full |= format::kept_newest | (full ? format::no_space : 0U);
}

// Reads of its records that began before are void from here on, so this comes before the first new record.
void Location::forget_oldest(format::Drained drained, std::uint64_t open) noexcept {
  const std::uint64_t oldest = open + 1 - drained.waiting(open);
  const format::SubBufferHead& from = sub_buffer(oldest);
  const bool is_lost = (shared->summary.full & format::kept_newest) != 0;
  const std::uint64_t records =
      is_lost ? format::count_records(reinterpret_cast<const char*>(&from + 1), from.bytes) : 0;
  const std::uint64_t bytes = from.bytes;
  std::uint64_t word = drained.word();
  const format::Drained since{static_cast<std::uint32_t>(oldest + 1),
                              ring.sequence_behind(oldest, drained.sequence, 0)};
  // Else tared has drained it in the end.
  if (!shared->drained.compare_exchange_strong(word, since.word(), std::memory_order_acq_rel)) return;
  shared->summary.overwritten_bytes += bytes;
  shared->summary.events += records;
  shared->summary.dropped += records;
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

void Location::write_references() noexcept {
  format::SegmentHeader* segment = recorder::segment();
  if (segment == nullptr) return;
  const ErrnoGuard guard;
  if (format::Drained::of(shared->drained.load(std::memory_order_relaxed)).sub_buffers == 0) write_process(*segment);
  note_name();
  write_definitions(*segment);
}

bool Location::tared_makes_room(std::uint64_t open) noexcept {
  if (!tared_serves()) return false;
  // About what draining takes: so a thread loses twice that at most.
  constexpr std::uint64_t patience_ns = 10'000'000;
  const ErrnoGuard guard;
  const std::uint64_t begin = read_ns(CLOCK_MONOTONIC);
  for (std::uint64_t waited = 0; waited < patience_ns; waited = read_ns(CLOCK_MONOTONIC) - begin) {
    const auto drained = format::Drained::of(shared->drained.load(std::memory_order_acquire));
    if (drained.waiting(open) < ring.count) return true;
    wait_on(&shared->drained, drained.sub_buffers, patience_ns - waited);
  }
  // It has died, hangs, or gets no processor: nobody else waits for it. If it lives, it says again that it is there.
  node_words->tared.store(0, std::memory_order_relaxed);
  return false;
}

bool Location::make_room(bool continues) noexcept {
  const std::uint64_t open = open_ordinal();
  auto drained = format::Drained::of(shared->drained.load(std::memory_order_acquire));
  bool full = drained.waiting(open) >= ring.count;
  // What belongs to a dropped record is dropped with it.
  if (ring.policy == format::Policy::drop && (full || (continues && gap != nullptr))) {
    drop();
    return false;
  }
  const std::uint64_t enter = full ? now() : 0;
  const bool waits = full && ring.policy == format::Policy::block;
  if (waits && !tared_makes_room(open)) {
    drains_seen = node_words->drains.fetch_add(1, std::memory_order_relaxed) + 1;
    if (drain(enter)) return true;
    drained = format::Drained::of(shared->drained.load(std::memory_order_acquire));
    full = drained.waiting(open) >= ring.count;
  }
  if ((full || tared_serves()) && wait_if_ended()) {
    open_sub_buffer(open);
    return true;
  }
  if (full && ring.policy == format::Policy::overwrite) forget_oldest(drained, open);
  next_sub_buffer(open);
  if (waits && ring.policy == format::Policy::block) note_flush(0, enter, now(), 0);
  return true;
}

void Location::drain_in_step() noexcept {
  drains_seen = node_words->drains.load(std::memory_order_relaxed);
  if (ring.policy != format::Policy::block || tared_serves()) return;
  const auto drained = format::Drained::of(shared->drained.load(std::memory_order_relaxed));
  const std::uint64_t full = drained.waiting(open_ordinal()) - 1;  // and one is being filled
  if (2 * (full * ring.bytes + open_bytes()) >= std::uint64_t{ring.count} * ring.bytes) drain();
}

void Location::note_flush(std::uint64_t records, std::uint64_t enter, std::uint64_t leave,
                          std::uint64_t bytes) noexcept {
  shared->summary.flush_ticks += leave - enter;
  ++shared->summary.flushes;
  put(*this,
      format::FlushRecord{
          {format::flush, sizeof(format::FlushRecord) / 8}, static_cast<std::uint32_t>(records), enter, leave, bytes});
  shared->head.store(head, std::memory_order_release);
}

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
  // Once early, so that the events of a file that is cut off, or whose process was killed, have a rank.
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
      drained = format::Drained::of(word);  // tared was faster, with the same chunks
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

void Location::flush() noexcept {
  const bool was_paused = mode == Mode::paused;
  pause(false);
  drain();
  pause(was_paused);
}

}  // namespace tare::recorder

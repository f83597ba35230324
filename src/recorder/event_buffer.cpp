#include "recorder/event_buffer.h"

#include <cerrno>
#include <utility>

namespace tare::recorder {

void EventBuffer::suspend(Suspension why) noexcept {
  if (suspensions == 0) limit_when_resumed = std::exchange(limit, 0);
  suspensions |= static_cast<std::uint8_t>(why);
}

void EventBuffer::resume(Suspension why) noexcept {
  if (!is_suspended(why)) return;
  suspensions &= static_cast<std::uint8_t>(~static_cast<unsigned>(why));
  if (suspensions == 0) limit = limit_when_resumed;
}

void EventBuffer::append_raw_event(std::uint32_t type, std::uint64_t time, const void* data,
                                   std::uint64_t size) noexcept {
  const std::uint64_t bytes = raw_event_bytes(size);
  auto* record = reinterpret_cast<format::RawEventRecord*>(place());
  *record = {{format::raw_event, static_cast<std::uint16_t>(bytes / 8)}, type, time, size};
  auto* out = reinterpret_cast<char*>(record + 1);
  if (size != 0) {
    std::memset(place() + bytes - 8, 0, 8);  // the padding
    std::memcpy(out, data, size);
  }
  ++shared->summary.api_events;
  publish(bytes);
}

void EventBuffer::open_sub_buffer(std::uint64_t ordinal) noexcept {
  format::SubBufferHead& opened = sub_buffer(ordinal);
  opened.thread = shared->summary.number;
  base = reinterpret_cast<char*>(&opened) - ordinal * ring.stride();
  head = ring.begin(ordinal);
  loss = nullptr;
  (suspensions == 0 ? limit : limit_when_resumed) =
      ring.end(ordinal) - (ring.policy == format::Policy::drop ? sizeof *loss : 0);
  shared->head.store(head, std::memory_order_release);
}

void EventBuffer::next_sub_buffer() noexcept {
  const std::uint64_t open = open_ordinal();
  sub_buffer(open).bytes = open_bytes();
  open_sub_buffer(open + 1);
}

std::uint64_t EventBuffer::waiting_bytes() const noexcept {
  const std::uint64_t full = drained().waiting(open_ordinal()) - 1;  // the open sub-buffer is not full
  return full * ring.bytes + open_bytes();
}

void EventBuffer::drop(std::uint64_t time) noexcept {
  if (loss == nullptr) {  // open_sub_buffer has left room for it
    loss = reinterpret_cast<format::LossRecord*>(place());
    *loss = {{format::loss, sizeof *loss / 8}, 0, time, time, 0};
    limit = head + sizeof *loss;
    publish(sizeof *loss);
  }
  ++loss->records;
  loss->leave = time;
  ++shared->summary.events;
  ++shared->summary.dropped;
}

// This comes before the first new record, because readers that began earlier must find out that what they read is void.
void EventBuffer::drop_oldest(format::Drained drained) noexcept {
  const std::uint64_t open = open_ordinal();
  const std::uint64_t oldest = open + 1 - drained.waiting(open);
  const format::SubBufferHead& from = sub_buffer(oldest);
  const bool is_lost = (shared->summary.full & format::kept_newest) != 0;
  const std::uint64_t records =
      is_lost ? format::count_records(reinterpret_cast<const char*>(&from + 1), from.bytes) : 0;
  const std::uint64_t bytes = from.bytes;
  std::uint64_t word = drained.word();
  const format::Drained since{static_cast<std::uint32_t>(oldest + 1),
                              ring.sequence_behind(oldest, drained.sequence, 0)};
  // If the exchange fails, tared has drained the sub-buffer after all.
  if (!shared->drained.compare_exchange_strong(word, since.word(), std::memory_order_acq_rel)) return;
  shared->summary.overwritten_bytes += bytes;
  shared->summary.events += records;
  shared->summary.dropped += records;
}

// A full disk would lose all that follows, and the last events before a crash are worth more than earlier ones.
void EventBuffer::keep_newest(int error) noexcept {
  ring.policy = format::Policy::overwrite;
  const bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
  shared->summary.full |= format::kept_newest | (full ? format::no_space : 0U);
}

void EventBuffer::note_drain(std::uint64_t records, std::uint64_t enter, std::uint64_t leave,
                             std::uint64_t bytes) noexcept {
  shared->summary.flush_ticks += leave - enter;
  ++shared->summary.flushes;
  append(format::FlushRecord{
      {format::flush, sizeof(format::FlushRecord) / 8}, static_cast<std::uint32_t>(records), enter, leave, bytes});
}

EventBuffer::Mark EventBuffer::mark() const noexcept {
  const format::LocationSummary& summary = shared->summary;
  return {head, summary.events, summary.api_events, summary.dropped, loss == nullptr ? 0 : loss->records};
}

void EventBuffer::rewind(const Mark& mark) noexcept {
  head = mark.head;
  shared->head.store(head, std::memory_order_relaxed);
  shared->summary.events = mark.events;
  shared->summary.api_events = mark.api_events;
  shared->summary.dropped = mark.dropped;
  if (loss != nullptr) loss->records = mark.lost_records;
}

}  // namespace tare::recorder

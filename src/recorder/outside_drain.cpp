#include "recorder/outside_drain.h"

#include "recorder/clock.h"
#include "recorder/event_chunks.h"
#include "recorder/system.h"

namespace tare::recorder {

// Not memcpy, because a race detector intercepts it.
__attribute__((no_sanitize("thread"))) void copy_words(void* out, const void* in, std::uint64_t bytes) noexcept {
  auto* to = static_cast<std::uint64_t*>(out);
  const auto* words = static_cast<const volatile std::uint64_t*>(in);
  for (std::uint64_t i = 0; i < bytes / 8; ++i) to[i] = words[i];
}

bool copy_sub_buffer(const format::SegmentHeader& segment, format::LocationHeader& block, std::uint64_t ordinal,
                     std::uint64_t head, std::uint64_t* copy, format::SubBufferHead& from) noexcept {
  const format::RingShape& ring = segment.ring;
  const char* place = format::buffer_of(&block, segment.row_capacity) + ring.place(ordinal);
  copy_words(&from, place, sizeof from);
  if (ordinal == ring.ordinal(head)) from.bytes = head - ring.begin(ordinal);
  if (from.bytes <= ring.bytes) copy_words(copy, place + sizeof from, from.bytes);
  // A read-modify-write that adds nothing: unlike a plain load, it cannot be reordered before the copy.
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

}  // namespace tare::recorder

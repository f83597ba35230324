// The event buffer of a thread: its sub-buffers (format/ring.h), one of which is open.
#include "recorder/location.h"
#include "recorder/node_file.h"
#include "recorder/node_words.h"
#include "recorder/segment.h"
#include "recorder/system.h"

namespace tare::recorder {

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

void Location::write_references() noexcept {
  format::SegmentHeader* segment = recorder::segment();
  if (segment == nullptr) return;
  const ErrnoGuard guard;
  if (format::Drained::of(shared->drained.load(std::memory_order_relaxed)).sub_buffers == 0) write_process(*segment);
  note_name();
  write_definitions(*segment);
}

}  // namespace tare::recorder

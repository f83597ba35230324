#include "monitor/ring_writer.h"

#include "recorder/clock.h"
#include "recorder/system.h"

namespace tare::monitor {

void RingWriter::begin(format::OffloadRing& ring, const format::MonitorSpec& spec) noexcept {
  *this = RingWriter{};
  ring_ = &ring;
  entries_ = reinterpret_cast<char*>(&ring + 1);
  bytes_ = spec.ring_bytes;
  policy_ = spec.policy;
  depth_ = spec.depth;
  wait_ns_ = spec.wait_ns;
}

char* RingWriter::reserve(std::uint64_t bytes) noexcept {
  char* entry = place(bytes);
  while (entry == nullptr && bytes <= bytes_ && policy_ == format::MonitorPolicy::block && waits())
    entry = place(bytes);
  return entry;
}

// If the reader claims to be ahead of the writer, which ours never is, there seems to be no room.
char* RingWriter::place(std::uint64_t bytes) noexcept {
  const std::uint64_t used = head_ - ring_->tail.load(std::memory_order_acquire);
  const std::uint64_t waiting = written_ - ring_->taken.load(std::memory_order_relaxed);
  if (depth_ != 0 && waiting >= depth_) return nullptr;
  const std::uint64_t at = head_ % bytes_;
  const std::uint64_t skipped = at + bytes > bytes_ ? bytes_ - at : 0;
  if (used > bytes_ || skipped + bytes > bytes_ - used) return nullptr;
  if (skipped != 0) {
    const format::EntryHead filler{static_cast<std::uint32_t>(skipped), format::EntryKind::filler};
    *reinterpret_cast<format::EntryHead*>(entries_ + at) = filler;
  }
  reserved_ = head_ + skipped + bytes;
  return entries_ + (head_ + skipped) % bytes_;
}

// Waits until the reader has taken something. If it once came too late, the writer does not wait until it has come
// again.
bool RingWriter::waits() noexcept {
  const std::uint64_t taken = ring_->taken.load(std::memory_order_relaxed);
  if (taken == timed_out_at_) return false;
  const recorder::ErrnoGuard guard;
  const std::uint64_t begin = recorder::now();
  const std::uint64_t until = recorder::read_ns(CLOCK_MONOTONIC) + wait_ns_;
  std::uint64_t time = until - wait_ns_;
  while (ring_->taken.load(std::memory_order_acquire) == taken && time < until) {
    const std::uint32_t takings = ring_->takings.load(std::memory_order_acquire);
    if (ring_->taken.load(std::memory_order_acquire) == taken)
      recorder::wait_on(&ring_->takings, takings, until - time);
    time = recorder::read_ns(CLOCK_MONOTONIC);
  }
  const bool came = ring_->taken.load(std::memory_order_acquire) != taken;
  if (!came) timed_out_at_ = taken;
  ++ring_->account.waited;
  ring_->account.waited_ticks += recorder::now() - begin;
  return came;
}

void RingWriter::publish() noexcept {
  ring_->account.bytes += reserved_ - head_;
  head_ = reserved_;
  ring_->written.store(++written_, std::memory_order_relaxed);
  ring_->head.store(head_, std::memory_order_release);
}

}  // namespace tare::monitor

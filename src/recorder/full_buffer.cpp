#include "recorder/full_buffer.h"

#include <cerrno>
#include <cstring>
#include <new>

#include "format/event_codec.h"
#include "format/process_record.h"
#include "recorder/location.h"
#include "recorder/node_words.h"
#include "recorder/process_end.h"
#include "recorder/system.h"

namespace tare::recorder {
namespace {

// A sub-buffer of this size becomes one chunk: of 4096 calls, or of more records if some are shorter.
constexpr std::uint64_t usual_sub_buffer = 4096 * sizeof(format::CallRecord);
// A thread that drains by itself pays for setting up each chunk, and a longer chunk compresses better. So twice the
// size.
constexpr std::uint64_t own_sub_buffer = 2 * usual_sub_buffer;
static_assert(own_sub_buffer / sizeof(format::CompletionRecord) <= format::chunk_records);
// A drain displaces the program's data from the caches of the processor, whatever it drains. So it should be rare.
constexpr std::uint64_t default_buffer = 8 * own_sub_buffer;
// A budget learns what writing costs when a buffer has been written, and its limit of size includes what buffers hold.
constexpr std::uint64_t default_buffer_with_budget = 2 * own_sub_buffer;
constexpr std::uint64_t default_tared_buffer = 8 * usual_sub_buffer;  // larger, because tared may be late
constexpr std::uint64_t default_flight_buffer = 4 << 20;
constexpr std::uint64_t smallest_sub_buffer = 4 * 1024;  // room for the longest record and a LossRecord

}  // namespace

format::Policy policy_of(const char* name) noexcept {
  if (name != nullptr && std::strcmp(name, "overwrite") == 0) return format::Policy::overwrite;
  if (name != nullptr && std::strcmp(name, "drop") == 0) return format::Policy::drop;
  return format::Policy::block;
}

std::uint32_t flags_of(format::Policy policy) noexcept {
  if (policy == format::Policy::drop) return format::drops;
  return policy == format::Policy::overwrite ? format::overwrites : 0U;
}

// tared drains whole sub-buffers, overwriting takes whole ones, and so does a thread that ends. For these, the buffer
// has more and smaller sub-buffers.
format::RingShape ring_of(std::uint64_t bytes, format::Policy policy, bool has_tared, bool has_budget) noexcept {
  if (bytes == 0 && policy == format::Policy::overwrite) bytes = default_flight_buffer;
  if (bytes == 0 && has_tared) bytes = default_tared_buffer;
  if (bytes == 0) bytes = has_budget ? default_buffer_with_budget : default_buffer;
  if (bytes > UINT32_MAX * usual_sub_buffer) bytes = UINT32_MAX * usual_sub_buffer;
  const bool own = policy == format::Policy::block && !has_tared;
  const std::uint64_t most = own ? own_sub_buffer : usual_sub_buffer;
  std::uint64_t each = bytes / (own ? 2 : 8);
  each = each / sizeof(format::SubBufferHead) * sizeof(format::SubBufferHead);
  if (each > most) each = most;
  if (each < smallest_sub_buffer) each = smallest_sub_buffer;
  const std::uint64_t count = bytes < 2 * each ? 2 : bytes / each;
  return {static_cast<std::uint32_t>(count), static_cast<std::uint32_t>(each), policy};
}

bool Location::make_room(bool continues) noexcept {
  const std::uint64_t open = open_ordinal();
  auto drained = format::Drained::of(shared->drained.load(std::memory_order_acquire));
  bool full = drained.waiting(open) >= ring.count;
  // The records that belong to a dropped record are dropped, too.
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

void Location::drop() noexcept {
  const std::uint64_t time = now();
  if (gap == nullptr) {  // open_sub_buffer has left room for it
    gap = new (base + head) format::LossRecord{{format::loss, sizeof *gap / 8}, 0, time, time, 0};
    limit = head + sizeof *gap;
    publish(sizeof *gap);
  }
  ++gap->records;
  gap->leave = time;
  ++shared->summary.events;
  ++shared->summary.dropped;
}

// This comes before the first new record, because readers that began earlier must find out that what they read is void.
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
  // If the exchange fails, tared has drained the sub-buffer after all.
  if (!shared->drained.compare_exchange_strong(word, since.word(), std::memory_order_acq_rel)) return;
  shared->summary.overwritten_bytes += bytes;
  shared->summary.events += records;
  shared->summary.dropped += records;
}

// A full disk would lose all that follows, and the last events before a crash are worth more than earlier ones.
void Location::keep_newest(int error) noexcept {
  ring.policy = format::Policy::overwrite;
  const bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
  shared->summary.full |= format::kept_newest | (full ? format::no_space : 0U);
}

bool Location::tared_makes_room(std::uint64_t open) noexcept {
  if (!tared_serves()) return false;
  // About the time of one drain, so a late tared at most doubles the cost.
  constexpr std::uint64_t patience_ns = 10'000'000;
  const ErrnoGuard guard;
  const std::uint64_t begin = read_ns(CLOCK_MONOTONIC);
  for (std::uint64_t waited = 0; waited < patience_ns; waited = read_ns(CLOCK_MONOTONIC) - begin) {
    const auto drained = format::Drained::of(shared->drained.load(std::memory_order_acquire));
    if (drained.waiting(open) < ring.count) return true;
    wait_on(&shared->drained, drained.sub_buffers, patience_ns - waited);
  }
  // tared has died, hangs, or gets no processor. No other thread waits for it. If it is alive, it registers again.
  node_words->tared.store(0, std::memory_order_relaxed);
  return false;
}

void Location::drain_in_step() noexcept {
  drains_seen = node_words->drains.load(std::memory_order_relaxed);
  if (ring.policy != format::Policy::block || tared_serves()) return;
  const auto drained = format::Drained::of(shared->drained.load(std::memory_order_relaxed));
  const std::uint64_t full = drained.waiting(open_ordinal()) - 1;  // the open sub-buffer is not full
  if (2 * (full * ring.bytes + open_bytes()) >= std::uint64_t{ring.count} * ring.bytes) drain();
}

}  // namespace tare::recorder

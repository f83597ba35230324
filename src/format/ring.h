// The event buffer of a location: a ring of sub-buffers. The owning thread fills one after another. Full ones are
// drained in the same order, by the thread itself, by the node's tared, or, after the death of the process, by the
// collector. Sub-buffers are numbered consecutively ("ordinals"); number i lies in the place i % count.
//
// All state is in two words of the LocationHeader, each written by a single store:
//   head     a position: after the last record of the sub-buffer that is being filled
//   drained  how many sub-buffers were drained, and the sequence number of the next event chunk; also set by tared
// So a reader of the ring, at any moment and also after a kill, finds whole sub-buffers, and
// the records of a sub-buffer always lead to chunks of the same numbers. A record is not overwritten before `drained`
// is past it: what was copied is right if `drained` has not passed it since.
//
// The policy decides what happens when the ring is full: the thread drains it, drops what it would record until there
// is room (the gap is a LossRecord at the end of the sub-buffer), or takes the place of the oldest sub-buffer.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "format/record.h"

namespace tare::format {

// In front of the records of a sub-buffer.
struct alignas(64) SubBufferHead {
  std::uint64_t bytes;   // of records; counts once the owner has gone on to the next
  std::uint32_t thread;  // that recorded them: LocationSummary::number
  std::uint32_t reserved;
};
static_assert(sizeof(SubBufferHead) == 64);

enum class Policy : std::uint32_t { block = 0, drop = 1, overwrite = 2 };

// A position is the number of a byte in the endless sequence of sub-buffers, heads included.
struct RingShape {
  std::uint32_t count;  // sub-buffers; 0: no ring, nothing is recorded
  std::uint32_t bytes;  // of records in each
  Policy policy;

  constexpr std::uint64_t stride() const noexcept { return sizeof(SubBufferHead) + std::uint64_t{bytes}; }
  constexpr std::uint64_t total() const noexcept { return count * stride(); }
  constexpr std::uint64_t begin(std::uint64_t ordinal) const noexcept {
    return ordinal * stride() + sizeof(SubBufferHead);
  }
  constexpr std::uint64_t end(std::uint64_t ordinal) const noexcept { return (ordinal + 1) * stride(); }
  // The sub-buffer of a position; one at its end belongs to it still. `head` is never 0 (there is a SubBufferHead).
  constexpr std::uint64_t ordinal(std::uint64_t head) const noexcept { return (head - 1) / stride(); }
  // Offset of a sub-buffer in the memory of the ring.
  constexpr std::uint64_t place(std::uint64_t ordinal) const noexcept { return ordinal % count * stride(); }
  // The sequence number of the chunk behind those of a sub-buffer, which are `chunks` from number `first` on. Where
  // sub-buffers vanish unwritten, all take the same number of numbers: a chunk has at least 2 KiB of records but for
  // the last one.
  constexpr std::uint32_t sequence_behind(std::uint64_t ordinal, std::uint32_t first,
                                          std::uint32_t chunks) const noexcept {
    if (policy != Policy::overwrite) return first + chunks;
    return static_cast<std::uint32_t>(ordinal + 1) * (bytes / 2048 + 1);
  }
};

// LocationHeader::drained.
struct Drained {
  std::uint32_t sub_buffers;  // modulo 2^32
  std::uint32_t sequence;     // of the next event chunk

  static constexpr Drained of(std::uint64_t word) noexcept {
    return {static_cast<std::uint32_t>(word), static_cast<std::uint32_t>(word >> 32)};
  }
  constexpr std::uint64_t word() const noexcept { return sub_buffers | std::uint64_t{sequence} << 32; }
  // Sub-buffers from the oldest in the ring to number `ordinal`, which is being filled: 0 if that has left too.
  constexpr std::uint64_t waiting(std::uint64_t ordinal) const noexcept {
    return static_cast<std::uint32_t>(ordinal + 1) - sub_buffers;
  }
  constexpr bool has_passed(std::uint64_t ordinal) const noexcept {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(ordinal) - sub_buffers) < 0;
  }
};

// Records in `bytes` bytes of a sub-buffer, before one that makes no sense.
inline std::uint64_t count_records(const char* records, std::uint64_t bytes) noexcept {
  std::uint64_t count = 0;
  for (std::uint64_t at = 0; bytes - at >= sizeof(RecordHead); ++count) {
    RecordHead head;
    std::memcpy(&head, records + at, sizeof head);
    if (head.words == 0 || head.words * 8U > bytes - at) break;
    at += head.words * 8U;
  }
  return count;
}

// Offset of the first record that ended at `ticks` or later; completions and starts belong to the call before them.
inline std::uint64_t skip_older(const char* records, std::uint64_t bytes, std::uint64_t ticks) noexcept {
  std::uint64_t at = 0;
  while (bytes - at >= sizeof(EventRecord)) {
    RecordHead head;
    std::memcpy(&head, records + at, sizeof head);
    if (head.words == 0 || head.words * 8U > bytes - at) return at;
    if (head.kind != completion && head.kind != foreign_completion && head.kind != start) {
      const bool is_moment = head.kind == event || head.kind == raw_event;
      std::uint64_t end = 0;
      std::memcpy(&end, records + at + (is_moment ? offsetof(EventRecord, time) : offsetof(CallRecord, leave)),
                  sizeof end);
      if (end >= ticks) return at;
    }
    at += head.words * 8U;
  }
  return at;
}
static_assert(offsetof(CallRecord, leave) == offsetof(FlushRecord, leave) &&
              offsetof(CallRecord, leave) == offsetof(LossRecord, leave) &&
              offsetof(EventRecord, time) == offsetof(RawEventRecord, time));

}  // namespace tare::format

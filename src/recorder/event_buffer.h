// The event buffer of a thread: its sub-buffers (format/ring.h), one of which is open. Records are appended to the open
// one. The buffer never decides anything: full_buffer.h says what happens when a record does not fit, and drain.h
// empties the buffer.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>

#include "format/location_block.h"
#include "format/ring.h"

namespace tare::recorder {

// Why no events are recorded for a while.
enum class Suspension : std::uint8_t {
  pause = 1,  // the program has asked for it
  gap = 2     // a spell keeps no events (spells.h)
};

// Only the owning thread uses it. No function allocates or throws. Zero-initialised: there is no trace.
struct EventBuffer {
  format::LocationHeader* shared;
  char* base;           // the next record goes to base + head, if it ends within limit
  std::uint64_t head;   // == shared->head
  std::uint64_t limit;  // 0 without trace, or while suspended. So a suspension costs nothing where a record is appended
  // Up to here lies what every call reads (location.h).
  std::uint64_t limit_when_resumed;
  format::LossRecord* loss;  // counts the records that are being dropped; nullptr: there is room
  char* memory;              // of the ring
  format::RingShape ring;
  std::uint8_t suspensions;  // of Suspension

  // Whether events are recorded now.
  bool is_open() const noexcept { return limit != 0; }
  // Whether they are, but for suspensions.
  bool has_trace() const noexcept { return (suspensions == 0 ? limit : limit_when_resumed) != 0; }
  // Whether a record of this size fits into the buffer as it is. False unless it is open.
  bool has_room(std::uint64_t bytes) const noexcept { return head + bytes <= limit; }
  bool is_suspended(Suspension why) const noexcept { return (suspensions & static_cast<std::uint8_t>(why)) != 0; }
  // The buffer is open again when all suspensions have ended.
  void suspend(Suspension why) noexcept;
  void resume(Suspension why) noexcept;

  // The place of the next record. There must be room for it.
  char* place() const noexcept { return base + head; }
  // A record counts from here on, also for a reader of the segment after the thread has died.
  void publish(std::uint64_t bytes) noexcept {
    head += bytes;
    shared->head.store(head, std::memory_order_release);
  }
  template <class Record>
  void append(const Record& record) noexcept {
    std::memcpy(place(), &record, sizeof record);
    publish(sizeof record);
  }

  // An event of the API; count <= format::max_parameters. It counts in the account, and so do those that are dropped
  // instead (commit.h).
  void append_event(std::uint32_t type, std::uint64_t time, const std::uint64_t* parameters, unsigned count) noexcept {
    const std::uint64_t bytes = event_bytes(count);
    auto* record = reinterpret_cast<format::EventRecord*>(place());
    *record = {{format::event, static_cast<std::uint16_t>(bytes / 8)}, type, time};
    auto* out = reinterpret_cast<std::uint64_t*>(record + 1);
    for (unsigned i = 0; i < count; ++i) out[i] = parameters[i];
    ++shared->summary.api_events;
    publish(bytes);
  }
  static constexpr std::uint64_t event_bytes(unsigned parameters) noexcept {
    return sizeof(format::EventRecord) + 8U * parameters;
  }
  // An event of bytes, at most format::max_raw_bytes.
  void append_raw_event(std::uint32_t type, std::uint64_t time, const void* data, std::uint64_t size) noexcept;
  static constexpr std::uint64_t raw_event_bytes(std::uint64_t size) noexcept {
    return sizeof(format::RawEventRecord) + (size + 7) / 8 * 8;
  }

  // Sub-buffers, by ordinal (format/ring.h).
  std::uint64_t open_ordinal() const noexcept { return ring.ordinal(head); }
  std::uint64_t open_bytes() const noexcept { return head - ring.begin(open_ordinal()); }
  format::SubBufferHead& sub_buffer(std::uint64_t ordinal) noexcept {
    return *reinterpret_cast<format::SubBufferHead*>(memory + ring.place(ordinal));
  }
  // Records of the present thread of the block (LocationSummary::number) follow.
  void open_sub_buffer(std::uint64_t ordinal) noexcept;
  // Closes the open sub-buffer, and opens the next one.
  void next_sub_buffer() noexcept;

  // What was drained so far.
  format::Drained drained() const noexcept {
    return format::Drained::of(shared->drained.load(std::memory_order_acquire));
  }
  // Whether the next sub-buffer has not been drained.
  bool is_full(format::Drained drained) const noexcept { return drained.waiting(open_ordinal()) >= ring.count; }
  // Bytes that are not drained, out of `ring.count * ring.bytes`.
  std::uint64_t waiting_bytes() const noexcept;

  // Notes at `time` that a record is dropped.
  void drop(std::uint64_t time) noexcept;
  // Makes room by giving up the oldest sub-buffer, unless it has been drained since `drained`.
  void drop_oldest(format::Drained drained) noexcept;
  // From now on the newest events are kept, because writing has failed with that errno.
  void keep_newest(int error) noexcept;
  // A drain is itself an event, and part of the cost account. There must be room for it.
  void note_drain(std::uint64_t records, std::uint64_t enter, std::uint64_t leave, std::uint64_t bytes) noexcept;

  // For calibration: the state of the buffer, to go back to while records fit into the open sub-buffer.
  struct Mark {
    std::uint64_t head, events, api_events, dropped, lost_records;
  };
  Mark mark() const noexcept;
  void rewind(const Mark& mark) noexcept;
};

}  // namespace tare::recorder

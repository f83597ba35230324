// A location: one thread of the measured process, with its profile table, event buffer and counters. All
// that must survive the process lies in its block of the segment (format/segment.h); the rest is here.
// Every member function is called by the owning thread only, allocates nothing and does not throw.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "format/location_block.h"
#include "format/offload_ring.h"
#include "format/record.h"
#include "format/ring.h"
#include "recorder/account/weighing.h"
#include "recorder/budget/governor.h"
#include "recorder/call.h"
#include "recorder/clock.h"
#include "recorder/node_words.h"
#include "recorder/row.h"
#include "recorder/timing_sample.h"

namespace tare::recorder {

// The rows that recent calls of one call site were added to, so that the next call finds its row at once. Row 0: none.
struct KnownRows {
  static constexpr unsigned classes = 4;
  std::uint8_t last;               // of `by_size`: the row of the last call
  std::uint8_t untimed;            // of the next calls, how many need not be timed (timing_sample.h)
  std::uint16_t by_size[classes];  // size class % classes
};

// Ways in which commit() is not the usual one.
enum class Mode : std::uint8_t { usual, in_phase, paused, watched };

// Ticks from which on the next call that ends is an offload point, which the clock makes; UINT64_MAX: it makes none,
// and no thread is `watched`. Calls of those that are in another mode look, too (src/monitor/timer.h).
[[gnu::visibility("hidden")]] extern constinit std::atomic<std::uint64_t> offload_due;

// Whether an event of the API needs nothing but a reading of the processor's counter and a record.
[[gnu::visibility("hidden")]] extern constinit bool records_plainly;

// One block's private half. Zero-initialised; users of the recorder may derive from it (see Options).
struct Location {
  format::LocationHeader* shared;
  format::ProfileRow* rows;
  // The event buffer (format/ring.h): the next record goes to base + head, if it ends within limit.
  char* base;
  std::uint64_t head;         // == shared->head
  std::uint64_t limit;        // 0 without trace, or while paused
  std::uint32_t drains_seen;  // of node_words->drains
  Mode mode;
  // In a spell that does not measure (recorder/spells.h). Calls are then only counted, but for those
  // that make or free what later calls need; and, with requests_open, those that concern requests.
  bool counts_only;
  bool requests_open : 1;
  bool thins : 1;  // not every brief call is timed (timing_sample.h)
  std::uint8_t phase_depth;
  Weighing weighing;
  // Up to here lies what every call reads: one cache line (locations.cpp).
  format::PhaseEntry* phase;  // that the thread is in
  std::uint64_t limit_behind_pause;
  format::RingShape ring;
  std::uint32_t row_capacity;
  format::LossRecord* gap;  // counts the records that are being dropped; nullptr: there is room
  static constexpr unsigned nested_phases = 16;
  std::uint8_t outer_phases[nested_phases];  // numbers of those that `phase` lies in, the innermost last
  char name[16];                             // of the thread, as noted last
  KnownRows any_rows;                        // of calls whose call site remembers none
  std::uint64_t counted_calls;               // so far
  std::uint64_t counted_polls;               // of them
  std::uint64_t counted_in_wrappers;         // of them; the others bypass their wrappers
  TimingSample timing;
  // The trace has a gap that began then, in ticks; 0: it has none now (gaps.cpp).
  std::uint64_t gap_begin;
  std::uint64_t gap_calls;  // made until then
  std::uint64_t limit_behind_gap;
  Governor governor;          // of a run with a budget
  std::uint64_t stored_told;  // bytes on disk that the governor's process knows of
  format::SpanEntry* spans;   // what the monitor is told; nullptr: the run is not monitored
  std::uint32_t spans_used;   // entries before which all lie that are in use

  // Whether events of the thread are recorded now.
  bool traced() const noexcept { return limit != 0; }

  // The row of a call, made at its first. Row 0 if the table is full.
  format::ProfileRow& row(std::uint32_t site, std::uint16_t function, std::uint8_t size_class,
                          std::uint32_t communicator) noexcept {
    const std::uint64_t what = what_of(function, size_class, communicator);
    unsigned slot = slot_of(site, what);
    for (;; slot = (slot + 1) % format::index_slots) {
      const std::uint16_t number = shared->index[slot];
      if (number == 0) return new_row(slot, site, what);
      format::ProfileRow& candidate = rows[number];
      if (candidate.site == site && what_of(candidate) == what) return candidate;
    }
  }

  // Before a call: prefetches the row of the call site's last call, because the program's computation between two calls
  // evicts tare's memory from the caches.
  [[gnu::always_inline]] void expect_row(const KnownRows& known) const noexcept {
    const auto* row = reinterpret_cast<const char*>(&rows[known.by_size[known.last]]);
    __builtin_prefetch(row, 1);
    __builtin_prefetch(row + 64, 1);
  }

  // Before a call that may complete a request of a call of that row: prefetches the row. It may be another thread's, so
  // it is not read.
  [[gnu::always_inline]] void expect_completion(std::uint16_t row) const noexcept {
    __builtin_prefetch(reinterpret_cast<const char*>(&rows[row]) + offsetof(format::ProfileRow, bytes), 1);
  }

  // Adds a call to the profile and, if there is a trace, to the event buffer. Returns its row. `traffic` is made of
  // Traffic. Of a thread that is paused nothing is added: row 0, and the call has moved nothing.
  template <unsigned traffic = no_traffic>
  format::ProfileRow& commit(Call& call) noexcept {
    return commit<traffic>(call, any_rows);
  }
  // A call that is not `timed` has no times; the thread is not traced, and its mode is the usual.
  template <unsigned traffic, bool timed = true>
  format::ProfileRow& commit(Call& call, KnownRows& known) noexcept;

  // After a call of a kind of which not every one is timed (timing_sample.h), and which was: its row, as commit() gave
  // it.
  void choose_untimed(KnownRows& known, const format::ProfileRow& row) noexcept {
    if (row.calls >= TimingSample::first_calls && row.site != 0 && mode == Mode::usual && !traced() &&
        &known != &any_rows)
      known.untimed = timing.draw();
  }
  // The same after a call of another kind: if it is brief, and timing is thinned out.
  [[gnu::always_inline]] void choose_if_brief(KnownRows& known, const format::ProfileRow& row) noexcept {
    if (thins && row.ticks < row.calls * (TimingSample::brief_ns << tick_shift())) [[unlikely]]
      choose_untimed(known, row);
  }
  // Whether the next call of such a kind need not be timed.
  bool need_not_be_timed(const KnownRows& known) const noexcept {
    return known.untimed != 0 && mode == Mode::usual && !traced();
  }

  // What a wrapper begins and ends with; `ticks`: that the MPI function took (recorder/account/weighing.h).
  [[gnu::always_inline]] void begin_weighing() noexcept { weighing.begin_call(shared->summary.flush_ticks); }
  [[gnu::always_inline]] void end_weighing(std::uint16_t function, std::uint64_t ticks) noexcept {
    // The reading lies on the way of all calls: code that only weighed calls come to is not in the caches, and fetching
    // it would be taken for a cost of the wrapper.
    if (__builtin_expect_with_probability(static_cast<long>(weighing.is_under_way()), 1, 0.5) != 0)
      note_weight(function, ticks, now());
  }
  // The same of a call that is not timed otherwise.
  [[gnu::cold]] void note_weight_of_untimed(std::uint64_t ticks, std::uint64_t end) noexcept;

  // A wrapper only counts its call, as those of look-up functions do.
  [[gnu::always_inline]] void count_only(std::uint16_t function) noexcept {
    ++shared->lookups[function];
    ++counted_calls;
    ++counted_in_wrappers;
  }

  // A message to a rank of a communicator; nothing if `peer` is none, or if it has not been sent.
  void count_sent(std::uint32_t communicator, std::int32_t peer, std::uint64_t bytes) noexcept {
    if (peer < 0 || bytes == format::no_bytes) return;
    add_sent(peer_entry(communicator, peer), bytes);
  }
  // And one from it.
  void count_received(std::uint32_t communicator, std::int32_t peer, std::uint64_t bytes) noexcept {
    if (peer < 0 || bytes == format::no_bytes) return;
    add_received(peer_entry(communicator, peer), bytes);
  }
  // Bytes that became known after the call had been committed.
  void count_in_phase(std::uint64_t bytes) noexcept {
    if (mode == Mode::in_phase) phase->bytes += bytes;
  }

  // A phase, by its event type, begins within the one that the thread is in; or ends. Ending one that lies further
  // out leaves those within it as they are; ending one that has not begun does nothing.
  void begin_phase(std::uint32_t type) noexcept;
  void end_phase(std::uint32_t type) noexcept;
  // Whether the thread is in a phase of the type, or in one within it.
  bool is_in_phase(std::uint32_t type) const noexcept;
  // A thread begins, or ends: outside of all phases.
  void leave_all_phases() noexcept;
  // From here on nothing of the thread is recorded: no calls, events or samples; or it is again.
  void pause(bool paused) noexcept;
  // Spells of which no events are kept (spells.h): from `time` on the trace has a gap, and where that ends, the
  // trace says so. Nothing where there is no trace; a thread that is paused goes on to have its gap.
  void begin_gap(std::uint64_t time) noexcept;
  void end_gap(std::uint64_t time) noexcept;
  // Calls so far, measured or counted.
  std::uint64_t calls_made() const noexcept { return weighing.calls() + counted_calls; }
  // Called now and then by a thread that only counts: checks whether it may record more (Spells::check).
  [[gnu::cold, gnu::noinline]] void check_budget() noexcept;
  // Writes what is in the event buffer, also of a thread that is paused.
  void flush() noexcept;

  // Notes a completed request of the call committed last, if there is a trace. `kind`: completion, or
  // foreign_completion.
  void commit_completion(std::uint32_t request, std::uint64_t bytes, std::int32_t source, std::int32_t tag,
                         format::RecordKind kind = format::completion) noexcept {
    if (!traced() || mode == Mode::paused || !has_made_room(sizeof(format::CompletionRecord), true)) return;
    auto& record = *reinterpret_cast<format::CompletionRecord*>(base + head);
    record = {{kind, sizeof record / 8}, request, bytes, source, tag};
    publish(sizeof record);
  }

  // Notes one of several requests that the call committed last has started, if there is a trace; its request, bytes,
  // peer, tag and communicator.
  void commit_start(const Call& started) noexcept {
    if (!traced() || mode == Mode::paused || !has_made_room(sizeof(format::StartRecord), true)) return;
    auto& record = *reinterpret_cast<format::StartRecord*>(base + head);
    record = {{format::start, sizeof record / 8},
              started.request,
              started.bytes,
              started.peer,
              started.tag,
              started.communicator,
              0};
    publish(sizeof record);
  }

  // Whether a record of this size fits into the buffer as it is. False without a trace.
  bool has_room(std::uint64_t bytes) const noexcept { return head + bytes <= limit; }

  // Adds an event of the API. There must be a trace; count <= format::max_parameters.
  void commit_event(std::uint32_t type, std::uint64_t time, const std::uint64_t* parameters, unsigned count) noexcept {
    if (has_made_room(sizeof(format::EventRecord) + 8U * count)) return append_event(type, time, parameters, count);
    ++shared->summary.api_events;
  }

  // The same where there is room for it.
  void append_event(std::uint32_t type, std::uint64_t time, const std::uint64_t* parameters, unsigned count) noexcept {
    const std::uint64_t bytes = sizeof(format::EventRecord) + 8U * count;
    auto* record = reinterpret_cast<format::EventRecord*>(base + head);
    *record = {{format::event, static_cast<std::uint16_t>(bytes / 8)}, type, time};
    auto* out = reinterpret_cast<std::uint64_t*>(record + 1);
    for (unsigned i = 0; i < count; ++i) out[i] = parameters[i];
    ++shared->summary.api_events;
    publish(bytes);
  }

  // Adds an event of bytes, at most format::max_raw_bytes. There must be a trace.
  void commit_raw_event(std::uint32_t type, std::uint64_t time, const void* data, std::uint64_t size) noexcept {
    const std::uint64_t padded = (size + 7) / 8 * 8;
    const std::uint64_t bytes = sizeof(format::RawEventRecord) + padded;
    ++shared->summary.api_events;
    if (!has_made_room(bytes)) return;
    auto* record = reinterpret_cast<format::RawEventRecord*>(base + head);
    *record = {{format::raw_event, static_cast<std::uint16_t>(bytes / 8)}, type, time, size};
    auto* out = reinterpret_cast<char*>(record + 1);
    std::memset(out + padded - (padded == 0 ? 0 : 8), 0, padded == 0 ? 0 : 8);
    if (size != 0) std::memcpy(out, data, size);
    publish(bytes);
  }

  // Defines what the thread is called now, if that is new (thread_name.cpp). A thread that starts has the name of the
  // first until it is noted.
  void note_name() noexcept;
  void inherit_name() noexcept;

  // Encodes and appends all that is in the buffer to the node's file; empties it. False if it cannot be written: then
  // it stays there, and from now on the newest events are kept. `enter`: when it began to take the thread's time.
  bool drain(std::uint64_t enter = now()) noexcept;

  // Begins a sub-buffer for this thread, behind those of the block's threads before.
  void begin_thread() noexcept;

  // For calibration: makes sure that `bytes` of records fit without a drain, and takes back those recorded since, or,
  // if the buffer is full for good, dropped since.
  struct Mark {
    std::uint64_t head, events, api_events, dropped, gap_records;
  };
  Mark mark(std::uint64_t bytes) noexcept {
    if (traced() && head + bytes > limit) make_room(false);
    const format::LocationSummary& summary = shared->summary;
    return {head, summary.events, summary.api_events, summary.dropped, gap == nullptr ? 0 : gap->records};
  }
  void rewind(const Mark& mark) noexcept {
    head = mark.head;
    shared->head.store(head, std::memory_order_relaxed);
    shared->summary.events = mark.events;
    shared->summary.api_events = mark.api_events;
    shared->summary.dropped = mark.dropped;
    if (gap != nullptr) gap->records = mark.gap_records;
  }

 private:
  [[gnu::cold]] void offload_by_clock(std::uint64_t ticks) noexcept;
  // Not said to be cold, which would move the calls of it away. `end`: of the wrapper.
  [[gnu::noinline]] void note_weight(std::uint16_t function, std::uint64_t ticks, std::uint64_t end) noexcept;
  static unsigned slot_of(std::uint64_t site, std::uint64_t what) noexcept {
    const std::uint64_t h = (site * 0x9e3779b97f4a7c15U) ^ (what * 0xc2b2ae3d27d4eb4fU);
    return static_cast<unsigned>(h >> 52);
    static_assert(format::index_slots == 1U << (64 - 52));
  }
  [[gnu::cold]] format::ProfileRow& new_row(unsigned slot, std::uint32_t site, std::uint64_t what) noexcept;
  template <unsigned traffic>
  static constexpr std::uint64_t record_bytes = (traffic & exchanges) != 0 ? sizeof(format::ExchangeRecord)
                                                                           : sizeof(format::CallRecord);
  // There is room for it.
  template <unsigned traffic>
  void append_call(const Call& call, std::uint32_t site) noexcept;
  // commit(), whatever there is to do.
  template <unsigned traffic, bool timed>
  format::ProfileRow& commit_any(Call& call, KnownRows& known) noexcept;
  [[gnu::noinline]] std::uint16_t find_row(const Call& call, std::uint8_t size_class) noexcept {
    return static_cast<std::uint16_t>(&row(call.site, call.function, size_class, call.communicator) - rows);
  }

  // The entry of a peer, if it is where it is looked for first. (Entry 0 is no peer's.)
  [[gnu::always_inline]] format::PeerEntry* likely_peer(std::uint32_t communicator, std::int32_t peer) const noexcept {
    const std::uint64_t key = peer_key(communicator, peer);
    format::PeerEntry& entry = shared->peers[shared->peer_index[peer_slot(key)]];
    return is_of(entry, key) ? &entry : nullptr;
  }
  format::PeerEntry& peer_entry(std::uint32_t communicator, std::int32_t peer) noexcept {
    const std::uint64_t key = peer_key(communicator, peer);
    for (unsigned slot = peer_slot(key);; slot = (slot + 1) % format::peer_slots) {
      const std::uint16_t number = shared->peer_index[slot];
      if (number == 0) return new_peer(slot, key);
      if (is_of(shared->peers[number], key)) return shared->peers[number];
    }
  }
  [[gnu::cold]] format::PeerEntry& new_peer(unsigned slot, std::uint64_t key) noexcept;
  void switch_to_phase(std::uint32_t number) noexcept;

  // Goes on to the next sub-buffer. False if the record is to be dropped; `continues`: it belongs to the one before it.
  [[gnu::cold]] bool make_room(bool continues) noexcept;
  // Another thread of this node drains: this one too, if it had to soon anyway.
  [[gnu::cold]] void drain_in_step() noexcept;
  void next_sub_buffer(std::uint64_t open) noexcept;
  // Before the node's tared can see that a sub-buffer is full: what its records refer to is on disk before them.
  void write_references() noexcept;
  // Called if the ring is full: waits for the node's tared. Returns whether it made room in time.
  bool tared_makes_room(std::uint64_t open) noexcept;
  // There is room for it.
  void note_flush(std::uint64_t records, std::uint64_t enter, std::uint64_t leave, std::uint64_t bytes) noexcept;
  void keep_newest(int error) noexcept;
  void forget_oldest(format::Drained drained, std::uint64_t open) noexcept;
  void drop() noexcept;
  format::SubBufferHead& sub_buffer(std::uint64_t ordinal) noexcept;
  void open_sub_buffer(std::uint64_t ordinal) noexcept;
  std::uint64_t open_ordinal() const noexcept { return ring.ordinal(head); }
  std::uint64_t open_bytes() const noexcept { return head - ring.begin(open_ordinal()); }
  bool has_made_room(std::uint64_t bytes, bool continues = false) noexcept {
    return has_room(bytes) || make_room(continues);
  }
  // A record counts from here on, also for a reader of the segment after the thread has died.
  void publish(std::uint64_t bytes) noexcept {
    head += bytes;
    shared->head.store(head, std::memory_order_release);
  }
};

// This thread's location, nullptr before its first call. Initial-exec: the library is loaded at start-up.
[[gnu::visibility("hidden")]] extern constinit thread_local Location* this_location [[gnu::tls_model("initial-exec")]];

// In a forked child.
void forget_thread_names() noexcept;

// Starts a location for this thread; nullptr if recording is impossible (no run, no memory), now and for good.
[[gnu::cold]] Location* start_location() noexcept;

inline Location* here() noexcept {
  Location* location = this_location;
  return location != nullptr ? location : start_location();
}

}  // namespace tare::recorder

#include "recorder/commit.h"

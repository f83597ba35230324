// A location: one thread of the measured process, with its profile table, its event buffer and its phases. All that
// must survive the process lies in its block of the segment (format/location_block.h); the rest is here.
// Every member function is called by the owning thread only, allocates nothing and does not throw.
#pragma once

#include <cstddef>
#include <cstdint>

#include "format/offload_ring.h"
#include "recorder/account/weighing.h"
#include "recorder/budget/governor.h"
#include "recorder/clock.h"
#include "recorder/drain.h"
#include "recorder/event_buffer.h"
#include "recorder/full_buffer.h"
#include "recorder/peer_table.h"
#include "recorder/phases.h"
#include "recorder/profile_table.h"
#include "recorder/scheduling_reading.h"
#include "recorder/thread_name.h"
#include "recorder/timing_sample.h"

namespace tare::recorder {

// Ways in which commit() (commit.h) is not the usual one.
enum class Mode : std::uint8_t { usual, in_phase, paused, watched };

// Zero-initialised; users of the recorder may derive from it (see Options).
struct alignas(64) Location {
  KnownRows any_rows;  // of calls whose call site remembers none
  // What every call reads is the second cache line: the end of `weighing`, the beginning of `events`, and what lies
  // between.
  Weighing weighing;
  ProfileTable profile;
  Mode mode : 6;
  bool requests_open : 1;
  bool thins : 1;  // not every brief call is timed (timing_sample.h)
  // In a spell that does not measure (recorder/spells.h). Calls are then only counted, but for those
  // that make or free what later calls need; and, with requests_open, those that concern requests.
  bool counts_only;
  std::uint16_t last_path;  // for stack/path_memo.h, which says what it is
  std::uint32_t block;      // that of events.shared
  std::uint64_t due;        // from then on, in ticks, the next call does what is due (due.h)
  EventBuffer events;
  Phases phases;
  ThreadName name;
  std::uint64_t counted_calls;        // so far
  std::uint64_t counted_polls;        // of them
  std::uint64_t counted_in_wrappers;  // of them; the others bypass their wrappers
  std::int64_t until_check;           // of them, before one is followed by check_counted() (weighed_call.h)
  TimingSample timing;
  // The trace has a gap that began then, in ticks; 0: it has none now.
  std::uint64_t gap_begin;
  std::uint64_t gap_calls;  // made until then
  SchedulingReading scheduling;
  Governor governor;              // of a run with a budget
  std::uint64_t stored_reported;  // bytes on disk that the governor's process knows of
  format::SpanEntry* spans;       // what the monitor is told; nullptr: the run is not monitored
  std::uint32_t spans_used;       // entries before which all lie that are in use
  std::uint32_t drains_seen;      // of node_words->drains
  std::uint64_t sample_ticks;     // that samples of its stack took; a signal handler of the thread adds to it
  bool waits_in_construct;        // OtherCalls::construct is one whose record is of waiting alone

  // Begins in a block, which is zeroed. `memory`: of the ring; nullptr: there is no trace.
  void begin(format::LocationHeader& block, std::uint32_t rows, char* memory, const format::RingShape& ring) noexcept;

  format::LocationHeader& shared() const noexcept { return *events.shared; }
  PeerTable peers() const noexcept { return {events.shared}; }

  // Whether events of the thread are recorded now.
  bool traced() const noexcept { return events.is_open(); }

  // After a call of a kind of which not every one is timed (timing_sample.h), and which was: its row, as commit() gave
  // it.
  void choose_untimed(KnownRows& known, const format::ProfileRow& row) noexcept {
    if (row.calls >= TimingSample::first_calls && row.site != 0 && mode == Mode::usual && !traced() &&
        &known != &any_rows)
      known.untimed = timing.draw();
  }
  // The same after a call of another kind: if it is brief, and timing is thinned out.
  [[gnu::always_inline]] void choose_if_brief(KnownRows& known, const format::ProfileRow& row) noexcept {
    if (thins && row.ticks < row.calls * about_ticks(TimingSample::brief_ns)) [[unlikely]]
      choose_untimed(known, row);
  }
  // Whether the next call of such a kind need not be timed.
  bool need_not_be_timed(const KnownRows& known) const noexcept {
    return known.untimed != 0 && mode == Mode::usual && !traced();
  }

  // What a wrapper begins with, if it measures its call. It ends with end_weighing() (weighed_call.h).
  [[gnu::always_inline]] void begin_weighing() noexcept { weighing.begin_call(shared().summary.flush_ticks); }

  // A wrapper only counts its call, as those of look-up functions do.
  [[gnu::always_inline]] void count_only(std::uint16_t function) noexcept {
    ++shared().lookups[function];
    ++counted_calls;
    ++counted_in_wrappers;
  }
  // Calls so far, measured or counted.
  std::uint64_t calls_made() const noexcept { return weighing.calls() + counted_calls; }

  // Bytes that became known after the call had been committed.
  void count_in_phase(std::uint64_t bytes) noexcept {
    if (mode == Mode::in_phase) phases.current->bytes += bytes;
  }
  // As Phases::enter() and leave().
  void enter_phase(std::uint32_t type) noexcept;
  void leave_phase(std::uint32_t type) noexcept;

  // The next call makes a reading that no earlier one is compared with.
  void begin_scheduling() noexcept {
    const std::uint64_t processor_ticks = scheduling.processor_ticks;
    scheduling = {};
    scheduling.processor_ticks = processor_ticks;
    due = 0;
  }
  // From here on nothing of the thread is recorded: no calls, events or samples; or it is again.
  void pause() noexcept;
  void resume() noexcept;
  // Sets the mode anew, after a change of what it depends on.
  void update_mode() noexcept;

  // Spells of which no events are kept (spells.h): from `time` on the trace has a gap, and where that ends, the
  // trace says so. Nothing where there is no trace; a thread that is paused goes on to have its gap.
  void begin_gap(std::uint64_t time) noexcept;
  void end_gap(std::uint64_t time) noexcept;

  // Whether there is room for a record, after what has to be done for it. False without a trace, and if the record is
  // to be dropped.
  bool has_made_room(std::uint64_t bytes, bool continues = false) noexcept {
    return events.has_room(bytes) || (traced() && make_room(events, name, continues));
  }

  // Writes what is in the event buffer, also of a thread that is paused.
  void drain() noexcept { recorder::drain(events, name); }

  // The thread ends. Another one may take over.
  void end_thread() noexcept;
};

}  // namespace tare::recorder

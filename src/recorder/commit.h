// Adds calls and events of a thread to its profile, its phases and its event buffer. No function allocates or throws.
#pragma once

#include "recorder/call.h"
#include "recorder/every_call.h"
#include "recorder/location.h"
#include "recorder/monitored.h"
#include "recorder/node_words.h"
#include "recorder/row.h"

namespace tare::recorder {

template <unsigned traffic>
inline constexpr std::uint64_t record_bytes = (traffic & exchanges) != 0 ? sizeof(format::ExchangeRecord)
                                                                         : sizeof(format::CallRecord);

// There is room for it.
template <unsigned traffic>
[[gnu::always_inline]] inline void append_call(EventBuffer& events, const Call& call, std::uint32_t site) noexcept {
  auto* at = events.place();
  auto& record = *reinterpret_cast<format::CallRecord*>(at);
  record.head = {call.function, record_bytes<traffic> / 8};
  record.site = site;
  record.enter = call.enter;
  record.leave = call.leave;
  record.bytes = call.bytes;
  record.peer = call.peer;
  record.tag = call.tag;
  record.communicator = call.communicator;
  if constexpr ((traffic & scoped) != 0)
    if (call.scope != 0) record.communicator = call.scope;
  record.request = call.request;
  if constexpr ((traffic & exchanges) != 0) {
    auto& exchange = *reinterpret_cast<format::ExchangeRecord*>(at);
    exchange.received = call.received;
    exchange.source = call.source;
    exchange.source_tag = call.source_tag;
  }
  events.publish(record_bytes<traffic>);
}

// A call has ended at `ticks`, at or after `offload_due`.
[[gnu::cold]] void offload_by_clock(Location& location, std::uint64_t ticks) noexcept;

// Chooses the row of a call, which its call site knows from now on.
[[gnu::always_inline]] inline format::ProfileRow& choose_row(ProfileTable& profile, const Call& call,
                                                             KnownRows& known) noexcept {
  const std::uint8_t size_class = size_class_of(call);
  known.last = static_cast<std::uint8_t>(size_class % KnownRows::classes);
  std::uint16_t& number = known.by_size[known.last];
  if (!is_of(profile.rows[number], call, size_class)) number = profile.find_row(call, size_class);
  return profile.rows[number];
}

// Whether there is room in the event buffer of a thread that is traced, after what has to be done for it.
[[gnu::always_inline]] inline bool has_made_room_in_step(Location& location, std::uint64_t bytes) noexcept {
  const std::uint32_t drains = node_words->drains.load(std::memory_order_relaxed);
  if (drains != location.drains_seen) {
    location.drains_seen = drains;
    drain_in_step(location.events, location.name);
  }
  return location.has_made_room(bytes);
}

// commit(), whatever there is to do.
template <unsigned traffic, bool timed>
[[gnu::noinline]] format::ProfileRow& commit_any(Location& location, Call& call, KnownRows& known) noexcept {
  format::ProfileRow* const rows = location.profile.rows;
  if (location.mode != Mode::usual) [[unlikely]] {
    if (call.leave >= offload_due.load(std::memory_order_relaxed)) offload_by_clock(location, call.leave);
    if (location.mode == Mode::paused) {
      call.bytes = call.received = format::no_bytes;
      return rows[0];
    }
    if (location.mode == Mode::in_phase) {
      format::PhaseEntry& phase = *location.phases.current;
      ++phase.calls;
      phase.mpi_ticks += call.leave - call.enter;
      if (call.bytes != format::no_bytes) phase.bytes += call.bytes;
    }
  }
  const std::uint16_t before = known.by_size[known.last];
  format::ProfileRow& r = choose_row(location.profile, call, known);
  if constexpr (timed) {
    if constexpr ((traffic & may_be_thinned) != 0) call.stands_for += r.pending;
    add_to_row<traffic>(r, call);
  } else {
    known.untimed = 0;
    if (r.calls != r.estimated) {
      add_untimed_to_row<traffic>(r, call);
    } else {  // no call of the row was timed yet: takes the mean of the row that the site used before
      call.enter = 0;
      call.leave = mean_ticks(rows[before]);
      add_to_row<traffic>(r, call);
      ++r.estimated;
    }
  }
  if (location.traced() && has_made_room_in_step(location, record_bytes<traffic>))
    append_call<traffic>(location.events, call, r.site);
  if constexpr ((traffic & sends) != 0) location.peers().count_sent(call.communicator, call.peer, call.bytes);
  if constexpr ((traffic & receives) != 0) location.peers().count_received(call.communicator, call.peer, call.bytes);
  if constexpr ((traffic & exchanges) != 0)
    location.peers().count_received(call.communicator, call.source, call.received);
  return r;
}

// commit() of the usual call of a thread that is `traced` or not: its call site knows the profile row, its peers have
// entries, and the event buffer has room. commit_any() handles all other calls. It is the only function that is called
// here, and as the last step, so the compiler need not save registers.
template <unsigned traffic, bool timed, bool traced>
[[gnu::always_inline]] inline format::ProfileRow& commit_usual(Location& location, Call& call,
                                                               KnownRows& known) noexcept {
  const std::uint8_t size_class = size_class_of(call);
  const unsigned place = size_class % KnownRows::classes;
  format::ProfileRow& r = location.profile.rows[known.by_size[place]];
  if ((timed && seldom(location.mode != Mode::usual)) || seldom(!is_of(r, call, size_class)))
    return commit_any<traffic, timed>(location, call, known);
  format::PeerEntry* to = nullptr;
  format::PeerEntry* from = nullptr;
  if constexpr ((traffic & (sends | receives)) != 0)
    if (call.peer >= 0 && call.bytes != format::no_bytes) {
      to = location.peers().likely_peer(call.communicator, call.peer);
      if (seldom(to == nullptr)) return commit_any<traffic, timed>(location, call, known);
    }
  if constexpr ((traffic & exchanges) != 0)
    if (call.source >= 0 && call.received != format::no_bytes) {
      from = location.peers().likely_peer(call.communicator, call.source);
      if (seldom(from == nullptr)) return commit_any<traffic, timed>(location, call, known);
    }
  if constexpr (traced) {
    if (seldom(node_words->drains.load(std::memory_order_relaxed) != location.drains_seen) ||
        seldom(!location.events.has_room(record_bytes<traffic>)))
      return commit_any<traffic, timed>(location, call, known);
    append_call<traffic>(location.events, call, r.site);
  }
  known.last = static_cast<std::uint8_t>(place);
  if constexpr (timed && (traffic & may_be_thinned) != 0) call.stands_for += r.pending;
  if constexpr (timed)
    add_to_row<traffic>(r, call);
  else
    add_untimed_to_row<traffic>(r, call);
  if constexpr ((traffic & sends) != 0)
    if (to != nullptr) add_sent(*to, call.bytes);
  if constexpr ((traffic & receives) != 0)
    if (to != nullptr) add_received(*to, call.bytes);
  if constexpr ((traffic & exchanges) != 0)
    if (from != nullptr) add_received(*from, call.received);
  return r;
}

// The same of a thread that is traced, apart: it needs more registers than the profile alone.
template <unsigned traffic>
[[gnu::noinline]] format::ProfileRow& commit_traced(Location& location, Call& call, KnownRows& known) noexcept {
  return commit_usual<traffic, true, true>(location, call, known);
}

// Adds a call to the profile and, if there is a trace, to the event buffer. Returns its row. `traffic` is made of
// Traffic. A call that is not `timed` has no times; the thread is then not traced, and its mode is the usual. Of a
// thread that is paused nothing is added: row 0, and the call has moved nothing.
template <unsigned traffic = no_traffic, bool timed = true>
inline format::ProfileRow& commit(Location& location, Call& call, KnownRows& known) noexcept {
  if constexpr (timed)
    if (location.traced()) [[unlikely]]
      return commit_traced<traffic>(location, call, known);
  return commit_usual<traffic, timed, false>(location, call, known);
}

// The same for a call whose call site remembers no rows.
inline format::ProfileRow& commit(Location& location, Call& call) noexcept {
  return commit<no_traffic>(location, call, location.any_rows);
}

// Notes a completed request of the call committed last, if there is a trace. `kind`: completion, or
// foreign_completion.
inline void commit_completion(Location& location, std::uint32_t request, std::uint64_t bytes, std::int32_t source,
                              std::int32_t tag, format::RecordKind kind = format::completion) noexcept {
  if (location.has_made_room(sizeof(format::CompletionRecord), true))
    location.events.append(
        format::CompletionRecord{{kind, sizeof(format::CompletionRecord) / 8}, request, bytes, source, tag});
}

// Notes one of several requests that the call committed last has started, if there is a trace; its request, bytes,
// peer, tag and communicator.
inline void commit_start(Location& location, const Call& started) noexcept {
  if (location.has_made_room(sizeof(format::StartRecord), true))
    location.events.append(format::StartRecord{{format::start, sizeof(format::StartRecord) / 8},
                                               started.request,
                                               started.bytes,
                                               started.peer,
                                               started.tag,
                                               started.communicator,
                                               0});
}

// Adds an event of the API; count <= format::max_parameters.
inline void commit_event(Location& location, std::uint32_t type, std::uint64_t time, const std::uint64_t* parameters,
                         unsigned count) noexcept {
  if (location.has_made_room(EventBuffer::event_bytes(count)))
    location.events.append_event(type, time, parameters, count);
  else
    ++location.shared().summary.api_events;
}

// Adds an event of bytes, at most format::max_raw_bytes.
inline void commit_raw_event(Location& location, std::uint32_t type, std::uint64_t time, const void* data,
                             std::uint64_t size) noexcept {
  if (location.has_made_room(EventBuffer::raw_event_bytes(size)))
    location.events.append_raw_event(type, time, data, size);
  else
    ++location.shared().summary.api_events;
}

}  // namespace tare::recorder

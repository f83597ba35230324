// Adds a call to the profile and to the event buffer of a location. location.h includes this file at its end.
#pragma once

#include "recorder/location.h"

namespace tare::recorder {

template <unsigned traffic>
[[gnu::always_inline]] inline void Location::append_call(const Call& call, std::uint32_t site) noexcept {
  auto* at = base + head;
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
  publish(record_bytes<traffic>);
}

// Handles the usual call: its call site knows the profile row, its peers have entries, and the event buffer has room.
// commit_any() handles all other calls. It is the only function that is called here, and as the last step, so the
// compiler need not save registers. If not `timed`, the call has no times; the thread is then not traced, and its mode
// is `usual`.
template <unsigned traffic, bool timed>
inline format::ProfileRow& Location::commit(Call& call, KnownRows& known) noexcept {
  const std::uint8_t size_class = size_class_of(call);
  const unsigned place = size_class % KnownRows::classes;
  format::ProfileRow& r = rows[known.by_size[place]];
  if ((timed && mode != Mode::usual) || !is_of(r, call, size_class)) [[unlikely]]
    return commit_any<traffic, timed>(call, known);
  format::PeerEntry* to = nullptr;
  format::PeerEntry* from = nullptr;
  if constexpr ((traffic & (sends | receives)) != 0)
    if (call.peer >= 0 && call.bytes != format::no_bytes) {
      to = likely_peer(call.communicator, call.peer);
      if (to == nullptr) [[unlikely]]
        return commit_any<traffic, timed>(call, known);
    }
  if constexpr ((traffic & exchanges) != 0)
    if (call.source >= 0 && call.received != format::no_bytes) {
      from = likely_peer(call.communicator, call.source);
      if (from == nullptr) [[unlikely]]
        return commit_any<traffic, timed>(call, known);
    }
  if (timed && traced()) {
    if (node_words->drains.load(std::memory_order_relaxed) != drains_seen || !has_room(record_bytes<traffic>))
        [[unlikely]]
      return commit_any<traffic, timed>(call, known);
    append_call<traffic>(call, r.site);
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

template <unsigned traffic, bool timed>
[[gnu::noinline]] format::ProfileRow& Location::commit_any(Call& call, KnownRows& known) noexcept {
  if (mode != Mode::usual) [[unlikely]] {
    if (call.leave >= offload_due.load(std::memory_order_relaxed)) offload_by_clock(call.leave);
    if (mode == Mode::paused) {
      call.bytes = call.received = format::no_bytes;
      return rows[0];
    }
    if (mode == Mode::in_phase) {
      ++phase->calls;
      phase->mpi_ticks += call.leave - call.enter;
      if (call.bytes != format::no_bytes) phase->bytes += call.bytes;
    }
  }
  const std::uint8_t size_class = size_class_of(call);
  const std::uint16_t before = known.by_size[known.last];
  known.last = static_cast<std::uint8_t>(size_class % KnownRows::classes);
  std::uint16_t& number = known.by_size[known.last];
  if (!is_of(rows[number], call, size_class)) number = find_row(call, size_class);
  format::ProfileRow& r = rows[number];
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
  if (traced() && node_words->drains.load(std::memory_order_relaxed) != drains_seen) drain_in_step();
  if (traced() && has_made_room(record_bytes<traffic>)) append_call<traffic>(call, r.site);
  if constexpr ((traffic & sends) != 0) count_sent(call.communicator, call.peer, call.bytes);
  if constexpr ((traffic & receives) != 0) count_received(call.communicator, call.peer, call.bytes);
  if constexpr ((traffic & exchanges) != 0) count_received(call.communicator, call.source, call.received);
  return r;
}

}  // namespace tare::recorder

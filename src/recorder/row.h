// Functions that add calls to profile rows and to entries of peers, for Location (location.h).
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "format/communicator_number.h"
#include "format/peer_table.h"
#include "format/profile_row.h"
#include "recorder/call.h"

namespace tare::recorder {

// The fields that distinguish the rows of a call site, as one word.
inline std::uint64_t what_of(std::uint16_t function, std::uint8_t size_class, std::uint32_t communicator) noexcept {
  return function | std::uint64_t{size_class} << 16 | std::uint64_t{format::family_of(communicator)} << 32;
}
inline std::uint64_t what_of(const format::ProfileRow& row) noexcept {
  std::uint64_t what;
  std::memcpy(&what, &row.function, sizeof what);
  return what;
}
inline std::uint8_t size_class_of(const Call& call) noexcept {
  return call.bytes == format::no_bytes ? format::no_size : static_cast<std::uint8_t>(std::bit_width(call.bytes));
}
// Whether the call belongs to the row.
inline bool is_of(const format::ProfileRow& row, const Call& call, std::uint8_t size_class) noexcept {
  const std::uint64_t differs = what_of(row) ^ what_of(call.function, size_class, call.communicator);
  return (differs | (row.site ^ call.site)) == 0;  // one branch
}

// The mean duration of the calls of a row, without those that no timed call represents yet; 0 if there are none.
inline std::uint64_t mean_ticks(const format::ProfileRow& row) noexcept {
  const std::uint64_t timed = row.calls - row.pending;
  return timed == 0 ? 0 : row.ticks / timed;
}

// Adds the time of the calls that were not timed: each is taken to last as long as the timed call after them, `ticks`.
inline void settle(format::ProfileRow& row, std::uint64_t ticks) noexcept {
  const auto as_double = static_cast<double>(static_cast<std::int64_t>(ticks));
  row.ticks += row.pending * ticks;
  row.ticks_squared += row.pending * as_double * as_double;
  row.histogram[format::duration_bin(ticks)] += row.pending;
  row.pending = 0;
}

// Adds a call that was not timed. `traffic`: flags of Traffic.
template <unsigned traffic>
[[gnu::always_inline]] inline void add_untimed_to_row(format::ProfileRow& row, const Call& call) noexcept {
  ++row.calls;
  ++row.estimated;
  ++row.pending;
  if (call.bytes != format::no_bytes) row.bytes += call.bytes;
  if constexpr ((traffic & exchanges) != 0)
    if (call.received != format::no_bytes) row.received += call.received;
}

// Adds a timed call. `traffic`: flags of Traffic.
template <unsigned traffic>
[[gnu::always_inline]] inline void add_to_row(format::ProfileRow& row, const Call& call) noexcept {
  const std::uint64_t ticks = call.leave - call.enter;
  if constexpr ((traffic & (may_be_untimed | may_be_thinned)) != 0)
    if (row.pending != 0) settle(row, ticks);
  ++row.calls;
  row.ticks += ticks;
  if (ticks < row.ticks_min) row.ticks_min = ticks;
  if (ticks > row.ticks_max) row.ticks_max = ticks;
  const auto as_double = static_cast<double>(static_cast<std::int64_t>(ticks));
  row.ticks_squared += as_double * as_double;
  if (call.bytes != format::no_bytes) row.bytes += call.bytes;
  if constexpr ((traffic & exchanges) != 0)
    if (call.received != format::no_bytes) row.received += call.received;
  ++row.histogram[format::duration_bin(ticks)];
}

// The first word of the entry of a peer.
inline std::uint64_t peer_key(std::uint32_t communicator, std::int32_t peer) noexcept {
  return format::family_of(communicator) | std::uint64_t{static_cast<std::uint32_t>(peer)} << 32;
}
// The slot of LocationHeader::peer_index where the search for the entry begins.
inline unsigned peer_slot(std::uint64_t key) noexcept {
  static_assert(format::peer_slots == 1U << (64 - 52));
  return static_cast<unsigned>(key * 0x9e3779b97f4a7c15U >> 52);
}
inline bool is_of(const format::PeerEntry& entry, std::uint64_t key) noexcept {
  std::uint64_t its_key;
  std::memcpy(&its_key, &entry, sizeof its_key);
  return its_key == key;
}
inline void add_sent(format::PeerEntry& entry, std::uint64_t bytes) noexcept {
  ++entry.sent_messages;
  entry.sent_bytes += bytes;
}
inline void add_received(format::PeerEntry& entry, std::uint64_t bytes) noexcept {
  ++entry.received_messages;
  entry.received_bytes += bytes;
}

}  // namespace tare::recorder

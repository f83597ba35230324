// The peers of a thread: how many messages it has exchanged with each rank of each communicator. The table lies in the
// thread's block of the segment (format/peer_table.h).
#pragma once

#include <cstdint>

#include "format/location_block.h"
#include "recorder/row.h"

namespace tare::recorder {

// Only the owning thread uses it. No function allocates or throws.
struct PeerTable {
  format::LocationHeader* shared;

  // Entry 0 has what finds no room. To be called once for a block, which is zeroed.
  void begin() noexcept;

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
  // The entry of a peer, if it is where it is looked for first. (Entry 0 is no peer's.)
  [[gnu::always_inline]] format::PeerEntry* likely_peer(std::uint32_t communicator, std::int32_t peer) const noexcept {
    const std::uint64_t key = peer_key(communicator, peer);
    format::PeerEntry& entry = shared->peers[shared->peer_index[peer_slot(key)]];
    return is_of(entry, key) ? &entry : nullptr;
  }

 private:
  format::PeerEntry& peer_entry(std::uint32_t communicator, std::int32_t peer) noexcept {
    const std::uint64_t key = peer_key(communicator, peer);
    for (unsigned slot = peer_slot(key);; slot = (slot + 1) % format::peer_slots) {
      const std::uint16_t number = shared->peer_index[slot];
      if (number == 0) return new_peer(slot, key);
      if (is_of(shared->peers[number], key)) return shared->peers[number];
    }
  }
  [[gnu::cold]] format::PeerEntry& new_peer(unsigned slot, std::uint64_t key) noexcept;
};

}  // namespace tare::recorder

#include "recorder/peer_table.h"

#include <atomic>
#include <cstring>

namespace tare::recorder {

void PeerTable::begin() noexcept {
  shared->peers[0].peer = format::no_peer;
  shared->summary.peers = 1;
}

format::PeerEntry& PeerTable::new_peer(unsigned slot, std::uint64_t key) noexcept {
  const std::uint32_t number = shared->summary.peers;
  if (number == format::peer_capacity) {
    shared->summary.full |= format::full_peers;
    return shared->peers[0];
  }
  std::memcpy(&shared->peers[number], &key, sizeof key);
  std::atomic_ref(shared->summary.peers).store(number + 1, std::memory_order_release);
  shared->peer_index[slot] = static_cast<std::uint16_t>(number);
  return shared->peers[number];
}

}  // namespace tare::recorder

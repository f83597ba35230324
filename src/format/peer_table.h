// What a thread sent to and received from each other rank. Part of the segment (segment.h).
#pragma once

#include <cstdint>

namespace tare::format {

// What a thread has sent to a rank of a communicator, and received from it. Also on disk.
struct PeerEntry {
  std::uint32_t communicator;
  std::int32_t peer;  // rank in it (of an intercommunicator, in the other group)
  std::uint64_t sent_messages;
  std::uint64_t sent_bytes;
  std::uint64_t received_messages;
  std::uint64_t received_bytes;
};
static_assert(sizeof(PeerEntry) == 40);

// Entry 0 takes what finds no room. Its peer is no_peer.
inline constexpr unsigned peer_capacity = 2048;
inline constexpr unsigned peer_slots = 4096;

}  // namespace tare::format

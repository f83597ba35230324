// New rows of a thread's profile table and table of peers.
#include <atomic>
#include <cstring>

#include "recorder/location.h"
#include "recorder/system.h"

namespace tare::recorder {
namespace {

// When half of the table is full, call sites matter more than communicators, but for the first ones: MPI_COMM_WORLD and
// those of libraries.
constexpr std::uint32_t first_families = 64;

}  // namespace

format::ProfileRow& Location::new_row(unsigned slot, std::uint32_t site, std::uint64_t what) noexcept {
  const ErrnoGuard guard;
  // The last quarter of the table is kept for one row a function, without call site, when the rest is full; row 0,
  // "other", for what does not fit even there. Probing stays short with the index not full.
  const std::uint32_t number = shared->summary.rows;
  const auto communicator = static_cast<std::uint32_t>(what >> 32);
  if (site != 0 && number >= row_capacity / 2 && communicator > first_families) {
    shared->summary.full |= format::merged_communicators;
    return row(site, static_cast<std::uint16_t>(what), static_cast<std::uint8_t>(what >> 16), format::no_communicator);
  }
  if (site != 0 && number >= row_capacity - row_capacity / 4) {
    shared->summary.full |= format::full_rows;
    return row(0, static_cast<std::uint16_t>(what), format::no_size, format::no_communicator);
  }
  if (number >= row_capacity) return rows[0];
  format::ProfileRow& row = rows[number];
  row = {};
  row.site = site;
  std::memcpy(&row.function, &what, sizeof what);
  row.ticks_min = UINT64_MAX;
  std::atomic_ref(shared->summary.rows).store(number + 1, std::memory_order_release);
  shared->index[slot] = static_cast<std::uint16_t>(number);
  return row;
}

format::PeerEntry& Location::new_peer(unsigned slot, std::uint64_t key) noexcept {
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

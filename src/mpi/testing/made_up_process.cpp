// Replaces the recorder's segment, locations and full_buffer by a process without a segment, whose threads are
// RecordingThreads with room for all that tests record.
#include <cstdlib>

#include "mpi/testing/made_up_mpi.h"
#include "recorder/spells.h"

namespace tare::recorder {

namespace {
format::SegmentHeader segment_of_test{};
}  // namespace

format::SegmentHeader* segment() noexcept { return &segment_of_test; }
format::RequestTable* request_table() noexcept { return mpi::testing::request_table; }
const format::ProfileRow* row_of(std::uint32_t block, std::uint32_t row) noexcept {
  const mpi::testing::RecordingThread* thread = mpi::testing::RecordingThread::of_block(block);
  return thread == nullptr ? nullptr : &thread->rows()[row];
}

format::ProfileRow& Location::new_row(unsigned slot, std::uint32_t site, std::uint64_t what) noexcept {
  format::LocationSummary& summary = shared->summary;
  if (summary.rows == row_capacity) std::abort();
  format::ProfileRow& row = rows[summary.rows];
  row.site = site;
  std::memcpy(&row.function, &what, sizeof what);
  shared->index[slot] = static_cast<std::uint16_t>(summary.rows++);
  return row;
}
format::PeerEntry& Location::new_peer(unsigned slot, std::uint64_t key) noexcept {
  format::LocationSummary& summary = shared->summary;
  if (summary.peers == format::peer_capacity) std::abort();
  format::PeerEntry& entry = shared->peers[summary.peers];
  std::memcpy(&entry, &key, sizeof key);
  shared->peer_index[slot] = static_cast<std::uint16_t>(summary.peers++);
  return entry;
}
constinit std::atomic<std::uint64_t> offload_due{UINT64_MAX};
void Location::offload_by_clock(std::uint64_t) noexcept { std::abort(); }
bool Location::make_room(bool) noexcept { std::abort(); }
void Location::drain_in_step() noexcept { std::abort(); }
constinit Spells spells;
void Spells::complete_unknown(const Location&) noexcept { ++mpi::testing::unknown_completions; }

}  // namespace tare::recorder

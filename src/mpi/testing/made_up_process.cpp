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

void offload_by_clock(Location&, std::uint64_t) noexcept { std::abort(); }
bool make_room(EventBuffer&, ThreadName&, bool) noexcept { std::abort(); }
void drain_in_step(EventBuffer&, ThreadName&) noexcept { std::abort(); }
bool drain(EventBuffer&, ThreadName&, std::uint64_t) noexcept { std::abort(); }
constinit Spells spells;
void Spells::complete_unknown(const Location&) noexcept { ++mpi::testing::unknown_completions; }

}  // namespace tare::recorder

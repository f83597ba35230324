#include "reader/matching/trace_gaps.h"

namespace tare::reader {

void TraceGaps::add(std::int32_t world, std::int32_t rank) {
  if (has_rank(world, rank)) return;
  const auto w = static_cast<std::size_t>(world), r = static_cast<std::size_t>(rank);
  if (w >= ranks_.size()) ranks_.resize(w + 1);
  if (r >= ranks_[w].size()) ranks_[w].resize(r + 1);
  ranks_[w][r] = true;
  lines_.push_back("the trace of rank " + std::to_string(rank) +
                   " has gaps: its messages are not matched after the first");
  for (std::size_t i = 0; i < communicators_.size(); ++i) {
    const CommunicatorInfo& of = run_.communicators()[i];
    if (of.world != world || communicators_[i]) continue;
    communicators_[i] = !of.members || of.members->has(rank) || (of.remote_members && of.remote_members->has(rank));
  }
}

}  // namespace tare::reader

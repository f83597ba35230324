// Ranks with missing records.
//
// After a loss of records, what the rank did cannot be numbered, nor what others did together with it. A gap that tare
// has made, for a trial or a budget, ends with a spell (recorder/spells.h), where all ranks were at the same passage.
// So ranks whose traces continue with the same spell can be numbered anew from there: they are in one epoch. A rank
// with requests under way there is in an epoch of its own, because which messages these took is not known.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "reader/events/event_stream.h"
#include "reader/model/by_rank.h"
#include "reader/run/run.h"

namespace tare::reader {

class TraceGaps {
 public:
  // Without gaps. The run must outlive it, and show the same times as the rows.
  explicit TraceGaps(Run& run);

  // A gap without an end begins in the trace of this rank of a world. can_be_rank(world, rank) holds.
  void add(std::int32_t world, std::int32_t rank);
  // A gap that ends with a spell.
  void add_chosen(std::int32_t world, std::int32_t rank);
  // The epoch that begins after a loss; 0: none does, because tare did not make the gap.
  std::uint32_t epoch_behind(const EventRow& loss) const;

  bool has_rank(std::int32_t world, std::int32_t rank) const { return is_in(ranks_, world, rank); }
  // A gap of either kind.
  bool has_any(std::int32_t world, std::int32_t rank) const {
    return is_in(ranks_, world, rank) || is_in(chosen_, world, rank);
  }
  // Whether a rank with a gap is, or may be, a member. `communicator`: index in Run::communicators().
  bool has_communicator(std::int32_t communicator) const {
    return communicators_[static_cast<std::size_t>(communicator)];
  }
  bool has_any_chosen() const { return !chosen_.empty(); }

  // A line of text for each rank with a gap that does not end with a spell.
  const std::vector<std::string>& lines() const { return lines_; }

 private:
  using Ranks = ByRank<bool>;

  static bool is_in(const Ranks& ranks, std::int32_t world, std::int32_t rank) {
    const bool* found = ranks.find(world, rank);
    return found != nullptr && *found;
  }

  Run& run_;
  Ranks ranks_, chosen_;
  std::vector<bool> communicators_;
  std::vector<std::string> lines_;
  // By world and rank: when its traced spells began, in ns, and the epochs that may begin with them.
  std::map<std::pair<std::int32_t, std::int32_t>, std::map<std::int64_t, std::uint32_t>> epochs_;
};

}  // namespace tare::reader

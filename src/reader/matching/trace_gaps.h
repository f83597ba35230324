// Ranks from whose traces records are missing.
//
// Where records were lost, what the rank did from its first gap on cannot be numbered, nor what others did together
// with it. A gap that tare has chosen, for a trial or a budget, ends with a spell (recorder/spells.h): where all ranks
// have passed together. So what ranks whose traces went on with the same spell do from there on can be numbered anew:
// they are in one epoch. A rank that had requests under way there is in an epoch of its own: which messages those took
// is not known.
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
  // None yet. The run must outlive it, and show times as the rows do that are asked of.
  explicit TraceGaps(Run& run);

  // A gap begins in the trace of this rank of a world, for good. ByRank::can_be(world, rank) holds.
  void add(std::int32_t world, std::int32_t rank);
  // A gap that ends with a spell.
  void add_chosen(std::int32_t world, std::int32_t rank);
  // The epoch that begins behind a loss; 0: none does, it is no gap that was chosen.
  std::uint32_t epoch_behind(const EventRow& loss) const;

  bool has_rank(std::int32_t world, std::int32_t rank) const { return is_in(ranks_, world, rank); }
  // A gap of either kind.
  bool has_any(std::int32_t world, std::int32_t rank) const {
    return is_in(ranks_, world, rank) || is_in(chosen_, world, rank);
  }
  // Whether a rank with a gap is, or may be, a member. `communicator`: an index in Run::communicators().
  bool has_communicator(std::int32_t communicator) const {
    return communicators_[static_cast<std::size_t>(communicator)];
  }
  bool has_any_chosen() const { return !chosen_.empty(); }

  // A line for people about each rank with a gap that does not end with a spell.
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

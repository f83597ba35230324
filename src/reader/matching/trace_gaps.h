// Ranks with missing records.
//
// After a loss of records, the messages and collectives of a rank cannot be numbered any more, nor those of other ranks
// with it. But a gap that tare made on purpose, for --weigh or --budget, ends with a spell (recorder/spells.h), at
// whose begin all ranks were at the same synchronisation point, unless it is a timed one. So the ranks whose traces
// continue with this spell are numbered anew from there: they are in one epoch. A rank with incomplete requests at this
// point is in an epoch of its own, because it is not known which messages these requests take. If their start was not
// recorded, they are known when they complete.
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
  // Begins without gaps. The run must outlive the object, and its times must be those of the rows (Run::move_times).
  explicit TraceGaps(Run& run);

  // Why calls of a rank are missing from here on: records were lost, or callbacks that MPI ran have communicated.
  enum class Cause : std::uint8_t { loss, callbacks };
  // The trace of this rank has a gap that does not end with a spell. Requires can_be_rank(world, rank).
  void add(std::int32_t world, std::int32_t rank, Cause cause);
  // A gap that ends with a spell.
  void add_chosen(std::int32_t world, std::int32_t rank);
  // The epoch that begins after a loss; 0: none, because the gap does not end with a spell.
  std::uint32_t epoch_behind(const EventRow& loss) const;

  bool has_rank(std::int32_t world, std::int32_t rank) const { return is_in(ranks_, world, rank); }
  // A gap of either kind.
  bool has_any(std::int32_t world, std::int32_t rank) const {
    return is_in(ranks_, world, rank) || is_in(chosen_, world, rank);
  }
  // Whether a member, or a possible member, has a gap that does not end with a spell. `communicator`: index in
  // Run::communicators().
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
  // By world and rank: the begins of its traced spells in ns, each with the epoch that may begin there.
  std::map<std::pair<std::int32_t, std::int32_t>, std::map<std::int64_t, std::uint32_t>> epochs_;
};

}  // namespace tare::reader

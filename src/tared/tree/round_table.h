// The rounds under way at one node: what each child has sent, and when a round is complete.
//
// Children are the node's own ranks and the nodes below it. The rounds of a child ascend, so a child that sends a later
// round has nothing more for earlier ones. A round is complete when no child can still send something for it. It is
// given up, and passed on as it is, when it has waited for `patience_ns`, or when far more rounds are under way than
// children that keep to the window can send. Children that have sent nothing by then are silent: rounds do not wait for
// them until they send something again. Rounds leave in ascending order. If more than `acceptance` children send
// nothing for a round, it has no result (the acceptance threshold of Nataraj et al. 2008).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "tared/filters/filter.h"
#include "tared/tree/packet.h"

namespace tare::tared {

struct RoundLimits {
  std::uint32_t window = 16;  // rounds under way
  std::uint32_t acceptance = UINT32_MAX;
  std::int64_t patience_ns = 10'000'000'000;
};

// Counts of rounds and contributions.
struct RoundCounts {
  std::uint64_t done = 0;
  std::uint64_t whole = 0;     // with all ranks
  std::uint64_t given_up = 0;  // before all children had answered
  std::uint64_t refused = 0;   // more than `acceptance` children failed
  std::uint64_t late = 0;      // contributions to rounds that had left
  std::uint64_t malformed = 0;
};

class RoundTable {
 public:
  using Child = std::uint64_t;
  static Child rank_child(std::uint32_t rank) { return rank; }
  static Child node_child(std::uint32_t node) { return (std::uint64_t{1} << 32U) + node; }

  RoundTable(const Filter& filter, const RoundLimits& limits) : filters_{{0, &filter}}, limits_(limits) {}

  // Another filter reduces rounds from this one on, except for those that are under way. It must live as long as this.
  void change_filter(const Filter& filter, std::uint64_t from_round) { filters_[from_round] = &filter; }

  // Adds a child with the ranks below it, or changes its ranks. These ranks no longer belong to other children. The
  // child has nothing for rounds before `next_round`.
  void join(Child child, const RankSet& ranks, std::uint64_t next_round = 0);
  // The child has ended. In rounds under way for which it has sent nothing, its ranks are lost.
  void leave(Child child);
  void leave_all();
  // The child is gone. Its ranks may run on; they count as lost until another child has them.
  void lose_child(Child child);
  void reset_absent() { absent_.clear(); }
  bool has(Child child) const { return children_.contains(child); }
  const RankSet& ranks() const { return ranks_; }

  void add(const Snapshot& snapshot, std::int64_t now_ns);
  bool add(Child child, const Part& part, std::int64_t now_ns);
  void lose(Child child, const Lost& lost, std::int64_t now_ns);
  // Whether there is room for a rank's next snapshot.
  bool has_room(std::uint32_t rank) const;

  // Passes the next round on if it is complete or is given up.
  struct Done {
    Part part;          // without `reduced`; without ranks if there is no result
    Reduction* result;  // or nothing
  };
  bool take(std::int64_t now_ns, const std::function<void(const Done&)>& deliver);
  // When the next round is given up; INT64_MAX if none is under way.
  std::int64_t deadline_ns() const;
  std::size_t under_way() const { return pending_.size(); }
  // The first round that has not left.
  std::uint64_t next_round() const { return next_round_; }
  const RoundCounts& counts() const { return counts_; }

 private:
  struct ChildState {
    RankSet ranks;
    std::uint64_t next = 0;  // the first round that it may still send something for
    bool is_silent = false;
  };
  struct Pending {
    Part part;
    const Filter* filter = nullptr;
    std::unique_ptr<Reduction> result;
    std::int64_t began_ns = 0;
    std::uint32_t waiting = 0;     // children that may still send something
    std::vector<RankSet> ended{};  // ranks of each child that has ended since the round began
  };
  // Nodes without ranks below them send nothing.
  static bool is_waited_for(const ChildState& child, std::uint64_t round) {
    return !child.ranks.empty() && !child.is_silent && child.next <= round;
  }
  Pending* pending(std::uint64_t round, std::int64_t now_ns);
  void advance(ChildState& child, std::uint64_t next);
  void hear(ChildState& child, std::uint64_t round);
  void members_changed();
  void note_ended(const RankSet& ranks, bool is_whole_child);
  std::size_t failed(const Pending& of) const;
  void note_times(Part& part, const Part& of);
  void note_late(const Part& part);

  void begin_reduction(Pending& pending, std::uint64_t round);

  std::map<std::uint64_t, const Filter*> filters_;  // by the first round that each reduces
  RoundLimits limits_;
  std::map<Child, ChildState> children_;
  RankSet ranks_;                      // of all children
  std::map<Child, RankSet> absent_{};  // of children that are gone
  std::map<std::uint64_t, Pending> pending_;
  std::vector<std::unique_ptr<Reduction>> spare_;  // of spare_of_
  const Filter* spare_of_ = nullptr;
  std::uint64_t next_round_ = 0;
  std::uint64_t dropped_ = 0;  // snapshots that no round has told of yet
  RoundCounts counts_;
};

}  // namespace tare::tared

// The tree of one node: puts the snapshots of its ranks together by rounds, reduces each round with a filter, and hands
// it on when all ranks are in it, or cannot be any more.
//
// A rank's rounds ascend, so a rank that has handed over a later round has lost this one. A rank that hands over
// nothing at all, because it hangs or computes for long, is waited for as long as `patience_ns` since the round's last
// snapshot.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <unordered_map>
#include <unordered_set>

#include "tared/filters/filter.h"

namespace tare::tared {

class NodeReduction : public SnapshotTaker {
 public:
  NodeReduction(const Filter& filter, std::string specification, RoundSink& sink, std::int64_t patience_ns)
      : filter_(filter), specification_(std::move(specification)), sink_(sink), patience_ns_(patience_ns) {}

  void name(EventKey key, std::string_view text) override;
  void snapshot(const Snapshot& snapshot) override;

  // Hands on what is due. `expected`: the ranks that take part. `now_ns`: since the epoch.
  void advance(const RankSet& expected, std::int64_t now_ns);
  // And all that there is, at the end.
  void finish(const RankSet& expected, std::int64_t now_ns);

  std::uint64_t late() const { return late_; }  // snapshots of rounds that had been handed on
  static constexpr std::size_t most_open = 256;

 private:
  struct Open {
    std::unique_ptr<Reduction> reduction;
    RankSet ranks;
    std::int64_t first_ns = 0, last_ns = 0;  // offloads
    std::int64_t touched_ns = 0;             // when its last snapshot came
    std::uint64_t reduce_ns = 0;
    std::uint32_t reductions = 0;
  };

  bool is_complete(std::uint64_t round, const Open& open, const RankSet& expected) const;
  void hand_on(std::uint64_t round, Open& open, const RankSet& expected);

  const Filter& filter_;
  std::string specification_;
  RoundSink& sink_;
  std::int64_t patience_ns_;
  std::map<std::uint64_t, Open> open_;
  std::vector<std::unique_ptr<Reduction>> spare_;
  std::unordered_map<std::uint32_t, std::uint64_t> last_of_;  // the last round of a rank
  std::unordered_set<EventKey> named_;
  std::uint64_t handed_on_ = 0;  // rounds before this one
  std::uint64_t late_ = 0;
};

}  // namespace tare::tared

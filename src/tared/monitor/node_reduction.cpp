#include "tared/monitor/node_reduction.h"

#include <algorithm>
#include <vector>

#include "recorder/clock.h"

namespace tare::tared {

void NodeReduction::name(EventKey key, std::string_view text) {
  if (named_.insert(key).second) sink_.name(key, text);
}

void NodeReduction::snapshot(const Snapshot& snapshot) {
  std::uint64_t& last = last_of_[snapshot.rank];
  last = std::max(last, snapshot.round);
  if (snapshot.round < handed_on_) {
    ++late_;
    return;
  }
  Open& open = open_[snapshot.round];
  if (open.ranks.contains(snapshot.rank)) return;  // two processes say that they are the same rank
  if (open.reduction == nullptr) {
    if (spare_.empty()) {
      open.reduction = filter_.begin();
    } else {
      open.reduction = std::move(spare_.back());
      spare_.pop_back();
    }
    open.first_ns = open.last_ns = snapshot.offloaded_ns;
  }
  const std::uint64_t begin = recorder::read_ns(CLOCK_MONOTONIC);
  open.reduction->add(snapshot);
  open.reduce_ns += recorder::read_ns(CLOCK_MONOTONIC) - begin;
  ++open.reductions;
  open.ranks.insert(snapshot.rank);
  open.first_ns = std::min(open.first_ns, snapshot.offloaded_ns);
  open.last_ns = std::max(open.last_ns, snapshot.offloaded_ns);
  open.touched_ns = static_cast<std::int64_t>(recorder::read_ns(CLOCK_REALTIME));
}

bool NodeReduction::is_complete(std::uint64_t round, const Open& open, const RankSet& expected) const {
  for (const RankSet::Run& run : expected.runs())
    for (std::uint32_t rank = run.first; rank - run.first < run.count; ++rank) {
      if (open.ranks.contains(rank)) continue;
      const auto last = last_of_.find(rank);
      if (last == last_of_.end() || last->second <= round) return false;
    }
  return true;
}

void NodeReduction::advance(const RankSet& expected, std::int64_t now_ns) {
  while (!open_.empty()) {
    auto& [round, open] = *open_.begin();
    const bool is_due = open_.size() > most_open || now_ns - open.touched_ns > patience_ns_;
    if (!is_due && !is_complete(round, open, expected)) return;
    hand_on(round, open, expected);
    open_.erase(open_.begin());
  }
}

void NodeReduction::finish(const RankSet& expected, std::int64_t now_ns) {
  advance(expected, now_ns);
  for (auto& [round, open] : open_) hand_on(round, open, expected);
  open_.clear();
}

void NodeReduction::hand_on(std::uint64_t round, Open& open, const RankSet& expected) {
  Bytes reduced;
  Writer out(reduced);
  open.reduction->write(out);
  Round made;
  made.round = round;
  made.ranks = open.ranks;
  made.lost = expected;
  made.lost.remove(open.ranks);
  made.first_offload_ns = open.first_ns;
  made.last_offload_ns = open.last_ns;
  made.arrived_ns = static_cast<std::int64_t>(recorder::read_ns(CLOCK_REALTIME));
  made.cost.reduce_ns = open.reduce_ns;
  made.cost.reductions = open.reductions;
  made.filter = specification_;
  made.reduced = reduced;
  sink_.round(made);
  handed_on_ = round + 1;
  open.reduction->clear();
  spare_.push_back(std::move(open.reduction));
}

}  // namespace tare::tared

#include "tared/tree/round_table.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "tared/filters/clock.h"

namespace tare::tared {

void RoundTable::join(Child child, const RankSet& ranks, std::uint64_t next_round) {
  for (auto& [other, state] : children_)
    if (other != child && state.ranks.overlaps(ranks)) state.ranks.remove(ranks);
  for (auto& [gone, of] : absent_) of.remove(ranks);
  ChildState& state = children_[child];
  RankSet ended = std::exchange(state.ranks, ranks);
  ended.remove(ranks);
  note_ended(ended, ranks.empty());
  state.next = std::max({state.next, next_round, next_round_});
  members_changed();
}

void RoundTable::leave(Child child) {
  const auto gone = children_.find(child);
  if (gone == children_.end()) return;
  note_ended(gone->second.ranks, true);
  children_.erase(gone);
  members_changed();
}

void RoundTable::leave_all() {
  while (!children_.empty()) leave(children_.begin()->first);
}

void RoundTable::lose_child(Child child) {
  const auto gone = children_.find(child);
  if (gone == children_.end()) return;
  absent_[child].unite(gone->second.ranks);
  children_.erase(gone);
  members_changed();
}

// Rounds that have begun were begun when these ranks ran.
void RoundTable::note_ended(const RankSet& ranks, bool is_whole_child) {
  if (ranks.empty()) return;
  for (auto& [round, pending] : pending_) {
    pending.part.lost.unite(ranks);
    if (is_whole_child) pending.ended.push_back(ranks);
  }
}

// The number of children that have sent nothing for a round.
std::size_t RoundTable::failed(const Pending& of) const {
  const auto is_failed = [&](const RankSet& ranks) { return !ranks.empty() && !of.part.ranks.overlaps(ranks); };
  std::size_t count = 0;
  for (const auto& [child, state] : children_) count += is_failed(state.ranks) ? 1 : 0;
  for (const auto& [child, ranks] : absent_) count += is_failed(ranks) ? 1 : 0;
  for (const RankSet& ranks : of.ended) count += is_failed(ranks) ? 1 : 0;
  return count;
}

void RoundTable::members_changed() {
  ranks_.clear();
  for (const auto& [child, state] : children_) ranks_.unite(state.ranks);
  for (auto& [round, pending] : pending_) {
    pending.waiting = 0;
    for (const auto& [child, state] : children_)
      if (is_waited_for(state, round)) ++pending.waiting;
  }
}

RoundTable::Pending* RoundTable::pending(std::uint64_t round, std::int64_t now_ns) {
  if (round < next_round_) {
    ++counts_.late;
    return nullptr;
  }
  const auto [place, is_new] = pending_.try_emplace(round);
  Pending& pending = place->second;
  if (!is_new) return &pending;
  begin_reduction(pending, round);
  pending.part.round = round;
  pending.part.first_offload_ns = std::numeric_limits<std::int64_t>::max();
  pending.part.last_offload_ns = std::numeric_limits<std::int64_t>::min();
  pending.began_ns = now_ns;
  for (const auto& [child, state] : children_)
    if (is_waited_for(state, round)) ++pending.waiting;
  return &pending;
}

void RoundTable::begin_reduction(Pending& pending, std::uint64_t round) {
  pending.filter = std::prev(filters_.upper_bound(round))->second;
  if (spare_.empty() || spare_of_ != pending.filter) {
    pending.result = pending.filter->begin();
    return;
  }
  pending.result = std::move(spare_.back());
  spare_.pop_back();
}

void RoundTable::advance(ChildState& child, std::uint64_t next) {
  if (next <= child.next) return;
  if (is_waited_for(child, child.next))
    for (auto place = pending_.lower_bound(child.next); place != pending_.end() && place->first < next; ++place)
      --place->second.waiting;
  child.next = next;
}

// Waiting for a child that is far behind would not help.
void RoundTable::hear(ChildState& child, std::uint64_t round) {
  if (!child.is_silent || round + limits_.window < next_round_) return;
  child.is_silent = false;
  members_changed();
}

void RoundTable::note_times(Part& part, const Part& of) {
  part.first_offload_ns = std::min(part.first_offload_ns, of.first_offload_ns);
  part.last_offload_ns = std::max(part.last_offload_ns, of.last_offload_ns);
  part.clock_error_ns = std::max(part.clock_error_ns, of.clock_error_ns);
  part.cost.reduce_ns += of.cost.reduce_ns;
  part.cost.packet_ns += of.cost.packet_ns;
  part.cost.reductions += of.cost.reductions;
  part.cost.packets += of.cost.packets;
}

// Counts what is late for a round that has already been passed on. If the offloads are long ago, the tree was late and
// not the ranks.
void RoundTable::note_late(const Part& part) {
  dropped_ += part.dropped;
  if (realtime_ns() - part.last_offload_ns > limits_.patience_ns / 2) dropped_ += part.ranks.size();
}

void RoundTable::add(const Snapshot& snapshot, std::int64_t now_ns) {
  const auto child = children_.find(rank_child(snapshot.rank));
  if (child == children_.end()) return;
  hear(child->second, snapshot.round);
  if (snapshot.round < child->second.next) {
    ++counts_.late;
    return;
  }
  Pending* at = pending(snapshot.round, now_ns);
  if (at == nullptr) return;
  const std::int64_t begin_ns = monotonic_ns();
  at->result->add(snapshot);
  Part part;
  part.first_offload_ns = part.last_offload_ns = snapshot.offloaded_ns;
  part.cost.reduce_ns = static_cast<std::uint64_t>(monotonic_ns() - begin_ns);
  part.cost.reductions = at->part.ranks.empty() ? 0 : 1;
  note_times(at->part, part);
  at->part.ranks.insert(snapshot.rank);
  at->part.dropped += snapshot.dropped;
  advance(child->second, snapshot.round + 1);
}

bool RoundTable::add(Child child, const Part& part, std::int64_t now_ns) {
  const auto state = children_.find(child);
  if (state == children_.end()) return true;
  hear(state->second, part.round);
  if (part.round < state->second.next) {
    ++counts_.late;
    note_late(part);
    return true;
  }
  Pending* at = pending(part.round, now_ns);
  if (at == nullptr) {
    note_late(part);
    return true;
  }
  const std::int64_t begin_ns = monotonic_ns();
  // Ranks that moved to another parent may be in it twice.
  if (at->part.ranks.overlaps(part.ranks) || !at->result->merge(part.reduced)) {
    ++counts_.malformed;
    advance(state->second, part.round + 1);
    return false;
  }
  Part of = part;
  const std::int64_t unpacked_ns = std::max(at->result->unpacked_at_ns(), begin_ns);
  of.cost.packet_ns += static_cast<std::uint64_t>(unpacked_ns - begin_ns);
  of.cost.packets += 1;
  of.cost.reduce_ns += static_cast<std::uint64_t>(monotonic_ns() - unpacked_ns);
  of.cost.reductions += at->part.ranks.empty() ? 0 : 1;
  note_times(at->part, of);
  at->part.ranks.unite(part.ranks);
  at->part.lost.unite(part.lost);
  at->part.dropped += part.dropped;
  advance(state->second, part.round + 1);
  return true;
}

void RoundTable::lose(Child child, const Lost& lost, std::int64_t now_ns) {
  const auto state = children_.find(child);
  if (state == children_.end()) return;
  hear(state->second, lost.round);
  if (lost.round < state->second.next) return;
  if (Pending* at = pending(lost.round, now_ns)) at->part.lost.unite(lost.ranks);
  advance(state->second, lost.round + 1);
}

bool RoundTable::has_room(std::uint32_t rank) const {
  const auto child = children_.find(rank_child(rank));
  return child == children_.end() || pending_.empty() || child->second.next < pending_.begin()->first + limits_.window;
}

std::int64_t RoundTable::deadline_ns() const {
  return pending_.empty() ? std::numeric_limits<std::int64_t>::max()
                          : pending_.begin()->second.began_ns + limits_.patience_ns;
}

bool RoundTable::take(std::int64_t now_ns, const std::function<void(const Done&)>& deliver) {
  if (pending_.empty()) return false;
  Pending& first = pending_.begin()->second;
  const bool is_given_up = now_ns >= deadline_ns() || pending_.size() > 2 * limits_.window + children_.size();
  if (first.waiting > 0 && !is_given_up) return false;

  RankSet missing = ranks_;
  for (const auto& [child, ranks] : absent_) missing.unite(ranks);
  missing.unite(first.part.lost);
  missing.remove(first.part.ranks);
  first.part.lost = std::move(missing);
  const bool is_refused = first.part.ranks.empty() || (!first.part.lost.empty() && failed(first) > limits_.acceptance);
  if (is_refused) {
    first.part.lost.unite(first.part.ranks);
    first.part.ranks.clear();
    dropped_ += first.part.dropped;
  } else {
    first.part.dropped += std::exchange(dropped_, 0);
  }
  ++counts_.done;
  const bool is_overdue = first.waiting > 0 && now_ns >= deadline_ns();
  if (first.waiting > 0) ++counts_.given_up;
  if (is_refused) ++counts_.refused;
  if (!is_refused && first.part.lost.empty()) ++counts_.whole;
  const std::uint64_t round = first.part.round;
  if (is_overdue)
    for (auto& [child, state] : children_) state.is_silent |= is_waited_for(state, round);
  deliver({first.part, is_refused ? nullptr : first.result.get()});

  next_round_ = round + 1;
  first.result->clear();
  if (spare_of_ != first.filter) spare_.clear();
  spare_of_ = first.filter;
  if (spare_.size() < limits_.window) spare_.push_back(std::move(first.result));
  pending_.erase(pending_.begin());
  for (auto& [child, state] : children_) state.next = std::max(state.next, next_round_);
  if (is_overdue) members_changed();
  return true;
}

}  // namespace tare::tared

#include "tared/filters/groups.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tared/filters/tables.h"

namespace tare::tared {

namespace {

double squared_distance(const RankGroup& a, const RankGroup& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.mean_ns.size(); ++i) {
    const double difference = a.mean_ns[i] - b.mean_ns[i];
    sum += difference * difference;
  }
  return sum;
}

// By how much a union increases the sum of squared distances: Ward's criterion.
double added(const RankGroup& a, const RankGroup& b) {
  return a.count * b.count / (a.count + b.count) * squared_distance(a, b);
}

void unite(RankGroup& into, const RankGroup& from) {
  into.squares += from.squares + added(into, from);
  const double share = from.count / (into.count + from.count);
  for (std::size_t i = 0; i < into.mean_ns.size(); ++i) into.mean_ns[i] += (from.mean_ns[i] - into.mean_ns[i]) * share;
  into.count += from.count;
  into.ranks.unite(from.ranks);
}

bool are_alike(const RankGroup& a, const RankGroup& b, double alike) {
  double middle = 0;
  for (std::size_t i = 0; i < a.mean_ns.size(); ++i) {
    const double mean = (a.mean_ns[i] + b.mean_ns[i]) / 2;
    middle += mean * mean;
  }
  return squared_distance(a, b) <= alike * alike * middle;
}

struct Nearest {
  std::size_t a = 0;
  std::size_t b = 0;
  double added = std::numeric_limits<double>::infinity();
};

// Distances between all groups, kept while groups become fewer.
class Agglomeration {
 public:
  explicit Agglomeration(std::vector<RankGroup>& groups) : groups_(groups), added_(groups.size() * groups.size()) {
    for (std::size_t a = 0; a < groups.size(); ++a)
      for (std::size_t b = a + 1; b < groups.size(); ++b) set(a, b);
    size_ = groups.size();
  }
  Nearest nearest() const {
    Nearest nearest;
    for (std::size_t a = 0; a < size_; ++a)
      for (std::size_t b = a + 1; b < size_; ++b)
        if (at(a, b) < nearest.added) nearest = {a, b, at(a, b)};
    return nearest;
  }
  void unite_pair(const Nearest& pair) {
    unite(groups_[pair.a], groups_[pair.b]);
    --size_;
    if (pair.b != size_) {
      groups_[pair.b] = std::move(groups_[size_]);
      for (std::size_t i = 0; i < size_; ++i)
        if (i != pair.b) place(i, pair.b) = at(i, size_);
    }
    groups_.pop_back();
    for (std::size_t i = 0; i < size_; ++i)
      if (i != pair.a) set(i, pair.a);
  }

 private:
  double& place(std::size_t a, std::size_t b) { return added_[std::min(a, b) * stride() + std::max(a, b)]; }
  double at(std::size_t a, std::size_t b) const { return added_[std::min(a, b) * stride() + std::max(a, b)]; }
  std::size_t stride() const { return static_cast<std::size_t>(std::sqrt(static_cast<double>(added_.size()))); }
  void set(std::size_t a, std::size_t b) { place(a, b) = added(groups_[a], groups_[b]); }

  std::vector<RankGroup>& groups_;
  std::vector<double> added_;
  std::size_t size_ = 0;
};

}  // namespace

void settle(GroupTable& table, std::uint32_t most, double alike) {
  Agglomeration rest(table.groups);
  while (table.groups.size() > 1) {
    const Nearest pair = rest.nearest();
    if (table.groups.size() <= most && !are_alike(table.groups[pair.a], table.groups[pair.b], alike)) break;
    rest.unite_pair(pair);
  }
  std::ranges::sort(table.groups, {}, [](const RankGroup& group) { return group.ranks.runs().front().first; });
}

void GroupReduction::conclude() { settle(table_, table_.wanted, alike); }

void GroupReduction::clear() {
  table_.keys.clear();
  table_.groups.clear();
}

void GroupReduction::make_room_for(std::span<const EventKey> keys) {
  std::vector<EventKey> all = unite_keys(table_.keys, keys);
  if (all.size() != table_.keys.size()) {
    find_places(table_.keys, all, place_);
    for (RankGroup& group : table_.groups) spread(group.mean_ns, place_, all.size(), 1, 0.0);
    table_.keys = std::move(all);
  }
  find_places(keys, table_.keys, place_);
}

// Not done at each rank, because it needs the distances of all pairs.
void GroupReduction::settle_if_many() {
  if (table_.groups.size() > 2 * table_.kept()) settle(table_, table_.kept(), 0);
}

void GroupReduction::add(const Snapshot& snapshot) {
  make_room_for(snapshot.keys);
  RankGroup& rank = table_.groups.emplace_back();
  rank.ranks.insert(snapshot.rank);
  rank.count = 1;
  rank.mean_ns.assign(table_.keys.size(), 0);
  for (std::size_t i = 0; i < snapshot.keys.size(); ++i) {
    const double time_ns = snapshot.values[i].time_ns;
    rank.mean_ns[place_[i]] = std::isnan(time_ns) ? 0 : std::clamp(time_ns, -RankGroup::max_ns, RankGroup::max_ns);
  }
  settle_if_many();
}

bool GroupReduction::unpack(std::span<const std::byte> reduced) {
  if (!TableReduction::unpack(reduced) || other_.wanted != table_.wanted) return false;
  for (const RankGroup& mine : table_.groups)
    for (const RankGroup& theirs : other_.groups)
      if (mine.ranks.overlaps(theirs.ranks)) return false;
  return true;
}

bool GroupReduction::unite() {
  make_room_for(other_.keys);
  for (RankGroup& group : other_.groups) {
    spread(group.mean_ns, place_, table_.keys.size(), 1, 0.0);
    table_.groups.push_back(std::move(group));
  }
  settle_if_many();
  return true;
}

}  // namespace tare::tared

#include "tared/filters/statistics.h"

#include <algorithm>
#include <limits>

#include "tared/filters/key_union.h"

namespace tare::tared {

namespace {
constexpr auto infinity = std::numeric_limits<double>::infinity();
}  // namespace

void StatisticsReduction::make_room_for(std::span<const EventKey> keys) {
  in_place_ = std::ranges::equal(keys, table_.keys);
  if (in_place_) return;
  std::vector<EventKey> all = unite_keys(table_.keys, keys);
  if (all.size() != table_.size()) {
    find_places(table_.keys, all, place_);
    spread(table_.ranks, place_, all.size(), 1, 0U);
    spread(table_.mean, place_, all.size(), metric_count, 0.0);
    spread(table_.squares, place_, all.size(), metric_count, 0.0);
    spread(table_.least, place_, all.size(), metric_count, infinity);
    spread(table_.most, place_, all.size(), metric_count, -infinity);
    spread(table_.least_rank, place_, all.size(), metric_count, UINT32_MAX);
    spread(table_.most_rank, place_, all.size(), metric_count, UINT32_MAX);
    table_.keys = std::move(all);
  }
  in_place_ = keys.size() == table_.size();
  if (!in_place_) find_places(keys, table_.keys, place_);
}

void StatisticsReduction::add(const Snapshot& snapshot) {
  make_room_for(snapshot.keys);
  for (std::size_t i = 0; i < snapshot.keys.size(); ++i) {
    const std::size_t event = in_place_ ? i : place_[i];
    const double share = 1.0 / ++table_.ranks[event];
    const double values[] = {snapshot.values[i].calls, snapshot.values[i].time_ns, snapshot.values[i].bytes};
    for (std::size_t metric = 0; metric < metric_count; ++metric) {
      const std::size_t at = event * metric_count + metric;
      const double value = values[metric];
      const double difference = value - table_.mean[at];
      table_.mean[at] += difference * share;
      table_.squares[at] += difference * (value - table_.mean[at]);
      Statistic::take_least(table_.least[at], table_.least_rank[at], value, snapshot.rank);
      Statistic::take_most(table_.most[at], table_.most_rank[at], value, snapshot.rank);
    }
  }
}

bool StatisticsReduction::unpack(std::span<const std::byte> reduced) {
  Reader in(reduced);
  return StatisticsTable::read(in, other_) && in.at_end();
}

bool StatisticsReduction::unite() {
  make_room_for(other_.keys);
  for (std::size_t i = 0; i < other_.size(); ++i) {
    const std::size_t event = in_place_ ? i : place_[i];
    for (std::size_t metric = 0; metric < metric_count; ++metric) {
      Statistic merged = table_.at(event, metric);
      merged.merge(other_.at(i, metric));
      table_.put(event, metric, merged);
    }
    // Other nodes' numbers of ranks may be wrong. A sum that wraps around would be 0.
    table_.ranks[event] += std::min(other_.ranks[i], UINT32_MAX - table_.ranks[event]);
  }
  return true;
}

}  // namespace tare::tared

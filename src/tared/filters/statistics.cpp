#include "tared/filters/statistics.h"

#include <algorithm>
#include <limits>

#include "tared/filters/key_union.h"

namespace tare::tared {

namespace {

constexpr auto infinity = std::numeric_limits<double>::infinity();

// If two minima or maxima are equal, the one with the lower rank counts.
void take_least(double& least, std::uint32_t& rank, double value, std::uint32_t of) {
  if (value < least || (value == least && of < rank)) {
    least = value;
    rank = of;
  }
}
void take_most(double& most, std::uint32_t& rank, double value, std::uint32_t of) {
  if (value > most || (value == most && of < rank)) {
    most = value;
    rank = of;
  }
}

}  // namespace

void StatisticsTable::clear() {
  keys.clear();
  ranks.clear();
  for (auto* column : {&mean, &squares, &least, &most}) column->clear();
  for (auto* column : {&least_rank, &most_rank}) column->clear();
}

void StatisticsTable::write(Writer& out) const {
  out.put(static_cast<std::uint32_t>(size()));
  out.put_all(keys);
  out.put_all(ranks);
  for (const auto* column : {&mean, &squares, &least, &most}) out.put_all(*column);
  for (const auto* column : {&least_rank, &most_rank}) out.put_all(*column);
}

bool StatisticsTable::read(Reader& in, StatisticsTable& table) {
  const auto count = in.get<std::uint32_t>();
  if (count > max_events) return in.fail();
  const std::uint64_t wide = std::uint64_t{count} * metric_count;
  if (!in.get_all(table.keys, count) || !in.get_all(table.ranks, count)) return false;
  for (auto* column : {&table.mean, &table.squares, &table.least, &table.most})
    if (!in.get_all(*column, wide)) return false;
  for (auto* column : {&table.least_rank, &table.most_rank})
    if (!in.get_all(*column, wide)) return false;
  if (!are_ascending(table.keys)) return in.fail();
  for (const std::uint32_t ranks : table.ranks)
    if (ranks == 0) return in.fail();
  return in.ok();
}

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
      take_least(table_.least[at], table_.least_rank[at], value, snapshot.rank);
      take_most(table_.most[at], table_.most_rank[at], value, snapshot.rank);
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
    const double before = table_.ranks[event];
    // Other nodes' numbers of ranks may be wrong. A sum that wraps around would be 0.
    table_.ranks[event] += std::min(other_.ranks[i], UINT32_MAX - table_.ranks[event]);
    const double share = other_.ranks[i] / (before + other_.ranks[i]);
    for (std::size_t metric = 0; metric < metric_count; ++metric) {
      const std::size_t at = event * metric_count + metric;
      const std::size_t from = i * metric_count + metric;
      const double difference = other_.mean[from] - table_.mean[at];
      table_.mean[at] += difference * share;
      table_.squares[at] += other_.squares[from] + difference * difference * before * share;
      take_least(table_.least[at], table_.least_rank[at], other_.least[from], other_.least_rank[from]);
      take_most(table_.most[at], table_.most_rank[at], other_.most[from], other_.most_rank[from]);
    }
  }
  return true;
}

}  // namespace tare::tared

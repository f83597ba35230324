#include "tared/filters/tables.h"

#include <algorithm>
#include <limits>

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

void OpenHistograms::write(Writer& out) const {
  out.put(bins);
  out.put(static_cast<std::uint32_t>(keys.size()));
  out.put_all(keys);
  for (std::size_t i = 0; i < histograms.size(); ++i) histograms[i].write(out, counts_of(i));
}

void HistogramReduction::clear() {
  table_.keys.clear();
  table_.histograms.clear();
  table_.counts.clear();
}

void HistogramReduction::make_room_for(std::span<const EventKey> keys) {
  if (std::ranges::equal(keys, table_.keys) && place_.size() == keys.size()) return;
  std::vector<EventKey> all = unite_keys(table_.keys, keys);
  if (all.size() != table_.keys.size()) {
    find_places(table_.keys, all, place_);
    spread(table_.histograms, place_, all.size(), table_.metrics, Histogram{});
    spread(table_.counts, place_, all.size(), table_.metrics * table_.bins, 0U);
    table_.keys = std::move(all);
  }
  find_places(keys, table_.keys, place_);
}

void HistogramReduction::add(const Snapshot& snapshot) {
  make_room_for(snapshot.keys);
  for (std::size_t i = 0; i < snapshot.keys.size(); ++i) {
    const Metrics& values = snapshot.values[i];
    const std::size_t at = place_[i] * table_.metrics;
    if (table_.metrics == 1) {
      add(at, values.time_ns == 0 ? values.bytes : values.time_ns);
      continue;
    }
    add(at, values.calls);
    add(at + 1, values.time_ns);
    add(at + 2, values.bytes);
  }
}

bool HistogramReduction::unpack(std::span<const std::byte> reduced) {
  Reader in(reduced);
  return HistogramTable::read(in, other_, table_.metrics) && in.at_end() && other_.bins == table_.bins;
}

bool HistogramReduction::unite() {
  make_room_for(other_.keys);
  auto its_counts = std::span<const std::uint32_t>(other_.counts);
  for (std::size_t i = 0; i < other_.histograms.size(); ++i) {
    const std::size_t at = place_[i / table_.metrics] * table_.metrics + i % table_.metrics;
    table_.histograms[at].merge(other_.histograms[i], its_counts, table_.counts_of(at));
    its_counts = its_counts.subspan(other_.histograms[i].size());
  }
  return true;
}

void QuantileReduction::clear() {
  table_.keys.clear();
  table_.sketches.clear();
}

void QuantileReduction::add(const Snapshot& snapshot) {
  make_room(table_.keys, table_.sketches, snapshot.keys, place_, metric_count);
  for (std::size_t i = 0; i < snapshot.keys.size(); ++i) {
    QuantileSketch* of = &table_.sketches[place_[i] * metric_count];
    of[0].add(snapshot.values[i].calls, table_.error);
    of[1].add(snapshot.values[i].time_ns, table_.error);
    of[2].add(snapshot.values[i].bytes, table_.error);
  }
}

bool QuantileReduction::unpack(std::span<const std::byte> reduced) {
  return TableReduction::unpack(reduced) && other_.error == table_.error;
}

bool QuantileReduction::unite() {
  make_room(table_.keys, table_.sketches, other_.keys, place_, metric_count);
  for (std::size_t i = 0; i < other_.sketches.size(); ++i)
    table_.sketches[place_[i / metric_count] * metric_count + i % metric_count].merge(other_.sketches[i]);
  return true;
}

void CollectingReduction::add(const Snapshot& snapshot) {
  table_.ranks[snapshot.rank] = {snapshot.offloaded_ns,
                                 {snapshot.keys.begin(), snapshot.keys.end()},
                                 {snapshot.values.begin(), snapshot.values.end()}};
}

bool CollectingReduction::unpack(std::span<const std::byte> reduced) {
  return TableReduction::unpack(reduced) &&
         std::ranges::none_of(other_.ranks, [this](const auto& of) { return table_.ranks.contains(of.first); });
}

bool CollectingReduction::unite() {
  table_.ranks.merge(other_.ranks);
  return true;
}

}  // namespace tare::tared

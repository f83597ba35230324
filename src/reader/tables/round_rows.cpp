#include "reader/tables/round_rows.h"

#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "format/round_groups.h"
#include "format/round_histogram.h"
#include "format/round_profiles.h"
#include "format/round_quantiles.h"

namespace tare::reader {
namespace {

using format::metric_count;
using format::Reader;
using Rows = std::vector<ReductionRow>;

// Each event of a group names the group's ranks. A round with longer texts than this, all together, is damaged.
constexpr std::uint64_t max_rank_text = 512 << 20;
constexpr std::array shares = {0.0, 0.25, 0.5, 0.75, 0.9, 0.99, 1.0};

// A row of one metric of an event.
ReductionRow row_of(const RoundEvent& event, std::size_t metric) {
  ReductionRow row;
  row.event = event;
  row.metric = metrics_of(event.kind)[metric];
  return row;
}

// Nothing is returned for a damaged result.
std::optional<Rows> histograms(const RoundNames& names, std::string_view filter, Reader& in) {
  const std::size_t metrics = format::has_only_time(filter) ? 1 : metric_count;
  format::HistogramTable table;
  if (!format::HistogramTable::read(in, table, metrics)) return std::nullopt;
  Rows rows;
  auto count = table.counts.begin();
  for (std::size_t i = 0; i < table.histograms.size(); ++i) {
    const RoundEvent event = names.event(table.keys[i / metrics]);
    const std::size_t metric = metrics == 1 ? main_metric(event.kind) : i % metrics;
    for (std::uint32_t bin = 0; bin < table.histograms[i].size(); ++bin, ++count) {
      if (*count == 0 || metrics_of(event.kind)[metric] == nullptr) continue;
      ReductionRow& row = rows.emplace_back(row_of(event, metric));
      row.low = table.histograms[i].low(bin);
      row.high = table.histograms[i].low(bin + 1);
      row.count = *count;
    }
  }
  return rows;
}

std::optional<Rows> quantiles(const RoundNames& names, Reader& in) {
  format::QuantileTable table;
  if (!format::QuantileTable::read(in, table)) return std::nullopt;
  Rows rows;
  for (std::size_t i = 0; i < table.sketches.size(); ++i) {
    const RoundEvent event = names.event(table.keys[i / metric_count]);
    const std::uint64_t count = table.sketches[i].count();
    if (count == 0 || metrics_of(event.kind)[i % metric_count] == nullptr) continue;
    for (const double share : shares) {
      ReductionRow& row = rows.emplace_back(row_of(event, i % metric_count));
      row.quantile = share;
      row.count = static_cast<std::int64_t>(count);
      const double value = table.sketches[i].quantile(share, table.error);
      if (!std::isfinite(value)) return std::nullopt;
      if (table.sketches[i].is_bounded(share)) row.value = value;
    }
  }
  return rows;
}

std::optional<Rows> groups(const RoundNames& names, Reader& in) {
  format::GroupTable table;
  if (!format::GroupTable::read(in, table)) return std::nullopt;
  Rows rows;
  std::uint64_t rank_text = 0;
  for (const format::RankGroup& group : table.groups) {
    const std::string text = group.ranks.text();
    rank_text += text.size() * table.keys.size();
    if (rank_text > max_rank_text) return std::nullopt;
    for (std::size_t i = 0; i < table.keys.size(); ++i) {
      const RoundEvent event = names.event(table.keys[i]);
      if (event.kind == format::EventKind::counter) continue;
      ReductionRow& row = rows.emplace_back(row_of(event, main_metric(event.kind)));
      row.value = group.mean_ns[i];
      row.count = static_cast<std::int64_t>(group.ranks.size());
      row.ranks = text;
    }
  }
  return rows;
}

std::optional<Rows> profiles(const RoundNames& names, Reader& in) {
  format::Collection collection;
  if (!format::Collection::read(in, collection)) return std::nullopt;
  Rows rows;
  for (const auto& [rank, snapshot] : collection.ranks) {
    for (std::size_t i = 0; i < snapshot.keys.size(); ++i) {
      const RoundEvent event = names.event(snapshot.keys[i]);
      const format::Metrics& values = snapshot.values[i];
      for (std::size_t metric = 0; metric < metric_count; ++metric) {
        if (metrics_of(event.kind)[metric] == nullptr) continue;
        ReductionRow& row = rows.emplace_back(row_of(event, metric));
        row.value = std::array{values.calls, values.time_ns, values.bytes}[metric];
        row.count = 1;
        row.ranks = std::to_string(rank);
      }
    }
  }
  return rows;
}

// The result of a filter that the user provides, in hexadecimal digits.
Rows raw(std::span<const std::byte> reduced) {
  constexpr const char* digits = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : reduced) {
    text += digits[std::to_integer<int>(byte) >> 4];
    text += digits[std::to_integer<int>(byte) & 15];
  }
  Rows rows(1);
  rows.front().result = std::move(text);
  return rows;
}

}  // namespace

std::vector<StatisticRow> statistic_rows(const RoundNames& names, const StoredRound& round) {
  std::vector<StatisticRow> rows;
  for (const format::StatisticsTable& table : round.statistics) {
    for (std::size_t i = 0; i < table.size(); ++i) {
      const RoundEvent event = names.event(table.keys[i]);
      const auto named = metrics_of(event.kind);
      for (std::size_t metric = 0; metric < metric_count; ++metric)
        if (named[metric] != nullptr) rows.push_back({event, named[metric], table.at(i, metric)});
    }
  }
  return rows;
}

Rows reduction_rows(const RoundNames& names, const format::FilterResult& result) {
  const std::string_view name = result.filter.substr(0, result.filter.find(':'));
  Reader in(result.reduced);
  return (name == format::histogram_filter ? histograms(names, result.filter, in)
          : name == "quantiles"            ? quantiles(names, in)
          : name == "groups"               ? groups(names, in)
          : name == "none"                 ? profiles(names, in)
                                           : raw(result.reduced))
      .value_or(Rows{});
}

}  // namespace tare::reader

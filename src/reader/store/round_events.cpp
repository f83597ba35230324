#include "reader/store/round_events.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "format/filter_names.h"

namespace tare::reader {
namespace {

constexpr double most = 0x1p64;
constexpr double least = 0x1p-32;    // of a mean over ranks that is not 0, as what is counted is whole
constexpr double max_value = 1e140;  // of a counter, whose squares are added up

// Not true of NaN.
bool is_below(double limit, const format::Statistic& of) {
  return std::abs(of.mean) <= limit && of.deviation() <= limit && std::abs(of.least) <= limit &&
         std::abs(of.most) <= limit;
}

bool is_sum(const format::Statistic& of) { return is_below(most, of) && (of.mean == 0 || of.mean >= least); }

bool is_possible(const EventStatistics& event) {
  const auto& [calls, time, bytes] = event.metrics;
  if (!is_sum(calls) || !is_sum(time)) return false;
  return event.event.kind == format::EventKind::counter ? is_below(max_value, bytes) : is_sum(bytes);
}

std::string_view name_of_filter(std::string_view filter) { return filter.substr(0, filter.find(':')); }

}  // namespace

std::vector<EventStatistics> possible_events(const RoundNames& names, const StoredRound& round) {
  std::vector<EventStatistics> events;
  for (const format::StatisticsTable& table : round.statistics) {
    for (std::size_t i = 0; i < table.size(); ++i) {
      events.push_back({names.event(table.keys[i]), {table.at(i, 0), table.at(i, 1), table.at(i, 2)}});
      if (!is_possible(events.back())) events.pop_back();
    }
  }
  return events;
}

std::vector<EventStatistics> merged_events(std::span<const std::vector<EventStatistics>* const> rounds) {
  std::map<std::pair<std::string_view, std::string_view>, EventStatistics> all;
  for (const auto* events : rounds) {
    for (const EventStatistics& event : *events) {
      const auto [known, is_new] = all.try_emplace({name_of(event.event.kind), event.event.name}, event);
      for (std::size_t i = 0; !is_new && i < format::metric_count; ++i)
        known->second.metrics[i].merge(event.metrics[i]);
    }
  }
  std::vector<EventStatistics> sorted;
  for (auto& [key, event] : all) sorted.push_back(std::move(event));
  return sorted;
}

Bins Bins::widened(std::uint32_t exponent) const {
  Bins wide = *this;
  // Wider shifts would not be defined, and leave nothing.
  wide.histogram.widen(std::min(exponent - histogram.exponent(), 63U), wide.counts);
  wide.counts.resize(wide.histogram.size());
  return wide;
}

bool Bins::operator==(const Bins& other) const {
  return histogram.exponent() == other.histogram.exponent() && histogram.first() == other.histogram.first() &&
         counts == other.counts;
}

Bins merged_bins(std::span<const Bins> parts) {
  Bins merged{{}, std::vector<std::uint32_t>(max_merged_bins)};
  for (const Bins& part : parts) merged.histogram.merge(part.histogram, part.counts, merged.counts);
  merged.counts.resize(merged.histogram.size());
  return merged;
}

bool has_histograms(std::string_view filter) {
  return std::ranges::any_of(format::split_filters(filter),
                             [](std::string_view one) { return name_of_filter(one) == format::histogram_filter; });
}

std::vector<EventBins> histograms_of(const RoundNames& names, std::string_view filter,
                                     std::span<const std::byte> reduced) {
  std::vector<format::FilterResult> results;
  std::vector<EventBins> found;
  if (!format::split_result(filter, reduced, results)) return found;
  for (const auto& [one, content] : results) {
    if (name_of_filter(one) != format::histogram_filter) continue;
    const std::size_t metrics = format::has_only_time(one) ? 1 : format::metric_count;
    format::HistogramTable table;
    format::Reader in(content);
    if (!format::HistogramTable::read(in, table, metrics)) continue;
    auto counts = table.counts.begin();
    for (std::size_t i = 0; i < table.histograms.size(); ++i) {
      const format::Histogram& histogram = table.histograms[i];
      const auto end = counts + histogram.size();
      RoundEvent event = names.event(table.keys[i / metrics]);
      if (histogram.size() != 0 && (metrics == 1 || i % metrics == main_metric(event.kind)))
        found.push_back({std::move(event), {histogram, {counts, end}}});
      counts = end;
    }
  }
  return found;
}

}  // namespace tare::reader

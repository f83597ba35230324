#include "reader/tables/round_rows.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace tare::reader {
namespace {

constexpr std::size_t metrics = 3;  // numbers of each event
// Each event of a group names the group's ranks. A round with longer texts than this, all together, is damaged.
constexpr std::uint64_t max_rank_text = 512 << 20;
using Rows = std::vector<ReductionRow>;

// The names of the three numbers of an event; nullptr for a number that it does not have.
std::array<const char*, metrics> metrics_of(RoundEventKind kind) {
  if (kind == RoundEventKind::counter) return {"calls", nullptr, "value"};
  return {"calls", "time_ns", "bytes"};
}

const char* main_metric(RoundEventKind kind) { return kind == RoundEventKind::counter ? "value" : "time_ns"; }

// Calls `read` for each metric of each event, and appends the rows that it returns.
template <class Read>
void each_metric(const RoundReader& names, const std::vector<std::uint64_t>& keys, Rows& rows, const Read& read) {
  for (const std::uint64_t key : keys) {
    const RoundEvent event = names.event(key);
    for (const char* metric : metrics_of(event.kind)) {
      for (ReductionRow& row : read()) {
        if (metric == nullptr) continue;
        row.event = event;
        row.metric = metric;
        rows.push_back(std::move(row));
      }
    }
  }
}

Rows bins(RoundBytes& source) {
  const auto exponent = source.number<std::uint16_t>();
  const auto count = source.number<std::uint16_t>();
  const auto first = source.number<std::uint64_t>();
  const std::vector<std::uint32_t> counts = source.numbers<std::uint32_t>(count);
  if (exponent > 62 || first >> 63 != 0) source.fail();
  const double width = std::ldexp(1.0, exponent);
  Rows rows;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    ReductionRow& row = rows.emplace_back();
    row.low = static_cast<double>(first + i) * width;
    row.high = static_cast<double>(first + i + 1) * width;
    row.count = counts[i];
  }
  return rows;
}

Rows histograms(const RoundReader& names, std::string_view filter, RoundBytes& source) {
  source.number<std::uint32_t>();  // the maximum number of bins
  const std::vector<std::uint64_t> keys = source.numbers<std::uint64_t>(source.number<std::uint32_t>());
  Rows rows;
  if (!filter.ends_with(":time")) {
    each_metric(names, keys, rows, [&] { return bins(source); });
    return rows;
  }
  for (const std::uint64_t key : keys) {
    const RoundEvent event = names.event(key);
    for (ReductionRow& row : bins(source)) {
      row.event = event;
      row.metric = main_metric(event.kind);
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

// The values of one metric, in buckets whose bounds grow by a constant factor.
struct Buckets {
  std::uint64_t zeros = 0;
  std::vector<std::uint32_t> flat;  // index and count, one after another
  double growth = 0;

  std::uint64_t total() const {
    std::uint64_t all = zeros;
    for (std::size_t i = 1; i < flat.size(); i += 2) all += flat[i];
    return all;
  }
  // The value at index `wanted` of the sorted values; nothing if it is not finite or there are not so many values.
  std::optional<double> at(std::uint64_t wanted) const {
    std::uint64_t seen = zeros;
    if (wanted < seen) return 0.0;
    for (std::size_t i = 0; i + 1 < flat.size(); i += 2) {
      seen += flat[i + 1];
      if (wanted >= seen) continue;
      const double value = 2 * std::pow(growth, flat[i]) / (growth + 1);
      return std::isfinite(value) ? std::optional(value) : std::nullopt;
    }
    return std::nullopt;
  }
};

Rows quantiles(const RoundReader& names, RoundBytes& source) {
  const auto error = source.number<double>();
  if (!(error > 0 && error < 1)) source.fail();
  const double growth = (1 + error) / (1 - error);
  const std::vector<std::uint64_t> keys = source.numbers<std::uint64_t>(source.number<std::uint32_t>());
  Rows rows;
  each_metric(names, keys, rows, [&] {
    Buckets found{.zeros = source.number<std::uint64_t>(), .flat = {}, .growth = growth};
    const auto buckets = source.number<std::uint32_t>();
    source.number<std::uint32_t>();  // whether the lowest buckets were merged
    found.flat = source.numbers<std::uint32_t>(2 * std::uint64_t{buckets});
    Rows of_metric;
    const std::uint64_t total = found.total();
    for (const double share : {0.0, 0.25, 0.5, 0.75, 0.9, 0.99, 1.0}) {
      if (total == 0) break;
      ReductionRow& row = of_metric.emplace_back();
      row.quantile = share;
      row.value = found.at(static_cast<std::uint64_t>(share * static_cast<double>(total - 1)));
      row.count = static_cast<std::int64_t>(total);
      if (!row.value) source.fail();
    }
    return of_metric;
  });
  return rows;
}

Rows groups(const RoundReader& names, RoundBytes& source) {
  source.number<std::uint32_t>();  // the maximum number of groups
  const auto events = source.number<std::uint32_t>();
  const auto count = source.number<std::uint32_t>();
  const std::vector<std::uint64_t> keys = source.numbers<std::uint64_t>(events);
  Rows rows;
  std::uint64_t rank_text = 0;
  for (std::uint32_t group = 0; group < count && !source.has_failed(); ++group) {
    const RankRuns ranks = source.ranks();
    source.number<double>();  // the sum of squares
    const std::vector<double> means = source.numbers<double>(events);
    const std::string text = ranks.text();
    rank_text += text.size() * means.size();
    if (rank_text > max_rank_text) {
      source.fail();
      break;
    }
    for (std::size_t i = 0; i < means.size(); ++i) {
      const RoundEvent event = names.event(keys[i]);
      if (event.kind == RoundEventKind::counter) continue;
      ReductionRow& row = rows.emplace_back();
      row.event = event;
      row.metric = "time_ns";
      row.value = means[i];
      row.count = static_cast<std::int64_t>(ranks.count());
      row.ranks = text;
    }
  }
  return rows;
}

Rows profiles(const RoundReader& names, RoundBytes& source) {
  const auto count = source.number<std::uint32_t>();
  Rows rows;
  for (std::uint32_t i = 0; i < count && !source.has_failed(); ++i) {
    const auto rank = source.number<std::uint32_t>();
    const auto events = source.number<std::uint32_t>();
    source.number<std::int64_t>();  // the time of the offload
    const std::vector<std::uint64_t> keys = source.numbers<std::uint64_t>(events);
    const std::vector<double> values = source.numbers<double>(metrics * std::uint64_t{events});
    if (source.has_failed()) break;
    auto value = values.begin();
    each_metric(names, keys, rows, [&] {
      ReductionRow row;
      row.value = *value++;
      row.count = 1;
      row.ranks = std::to_string(rank);
      return Rows{std::move(row)};
    });
  }
  return rows;
}

// The result of a filter that the user provides, in hexadecimal digits.
Rows raw(std::string_view reduced) {
  constexpr const char* digits = "0123456789abcdef";
  std::string text;
  for (const char letter : reduced) {
    const auto byte = static_cast<unsigned char>(letter);
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  Rows rows(1);
  rows.front().result = std::move(text);
  return rows;
}

}  // namespace

std::optional<std::vector<StatisticRow>> statistic_rows(const RoundReader& names, std::string_view reduced) {
  RoundBytes source(reduced);
  const auto count = source.number<std::uint32_t>();
  const std::uint64_t wide = metrics * std::uint64_t{count};
  const auto keys = source.numbers<std::uint64_t>(count);
  const auto ranks = source.numbers<std::uint32_t>(count);
  const auto mean = source.numbers<double>(wide), squares = source.numbers<double>(wide);
  const auto least = source.numbers<double>(wide), most = source.numbers<double>(wide);
  const auto least_rank = source.numbers<std::uint32_t>(wide), most_rank = source.numbers<std::uint32_t>(wide);
  if (source.has_failed()) return std::nullopt;
  std::vector<StatisticRow> rows;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const RoundEvent event = names.event(keys[i]);
    const auto named = metrics_of(event.kind);
    for (std::size_t metric = 0; metric < metrics; ++metric) {
      if (named[metric] == nullptr) continue;
      const std::size_t at = metrics * i + metric;
      rows.push_back({event, named[metric], static_cast<std::int32_t>(ranks[i]), mean[at],
                      std::sqrt(std::max(squares[at], 0.0) / std::max(ranks[i], 1U)), least[at], most[at],
                      static_cast<std::int32_t>(least_rank[at]), static_cast<std::int32_t>(most_rank[at])});
    }
  }
  return rows;
}

Rows reduction_rows(const RoundReader& names, std::string_view filter, std::string_view reduced) {
  const std::string_view name = filter.substr(0, filter.find(':'));
  RoundBytes source(reduced);
  Rows rows = name == "histogram"   ? histograms(names, filter, source)
              : name == "quantiles" ? quantiles(names, source)
              : name == "groups"    ? groups(names, source)
              : name == "none"      ? profiles(names, source)
                                    : raw(reduced);
  if (source.has_failed()) rows.clear();
  return rows;
}

}  // namespace tare::reader

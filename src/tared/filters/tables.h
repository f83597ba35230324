// The filters "statistics", "histogram", "quantiles" and "none", whose results are tables of events (format/round_*.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <span>
#include <vector>

#include "format/round_histogram.h"
#include "format/round_profiles.h"
#include "format/round_quantiles.h"
#include "format/round_statistics.h"
#include "tared/filters/filter.h"
#include "tared/filters/snapshot.h"

namespace tare::tared {

// Of unions of ascending lists of events: the place of each event of `part` in `whole`, which contains all of them.
inline void find_places(std::span<const EventKey> part, std::span<const EventKey> whole,
                        std::vector<std::uint32_t>& places) {
  places.resize(part.size());
  std::uint32_t at = 0;
  for (std::size_t i = 0; i < part.size(); ++i) {
    while (whole[at] != part[i]) ++at;
    places[i] = at;
  }
}

inline std::vector<EventKey> unite_keys(std::span<const EventKey> a, std::span<const EventKey> b) {
  std::vector<EventKey> keys;
  keys.reserve(std::max(a.size(), b.size()));
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(keys));
  return keys;
}

// Moves the `width` numbers of each event to its new place. The others get `fill`.
template <class T>
void spread(std::vector<T>& column, std::span<const std::uint32_t> places, std::size_t size, std::size_t width,
            T fill) {
  std::vector<T> wide(size * width, fill);
  for (std::size_t i = 0; i < places.size(); ++i)
    std::move(column.data() + i * width, column.data() + (i + 1) * width, wide.data() + places[i] * width);
  column.swap(wide);
}

// Adds the events `more` to a table with `width` values for each event, and finds their places in it.
template <class T>
void make_room(std::vector<EventKey>& keys, std::vector<T>& column, std::span<const EventKey> more,
               std::vector<std::uint32_t>& places, std::size_t width) {
  std::vector<EventKey> all = unite_keys(keys, more);
  if (all.size() != keys.size()) {
    find_places(keys, all, places);
    spread(column, places, all.size(), width, T{});
    keys = std::move(all);
  }
  find_places(more, keys, places);
}

using format::CollectedSnapshot;
using format::Collection;
using format::Histogram;
using format::HistogramTable;
using format::QuantileSketch;
using format::QuantileTable;
using format::Statistic;
using format::StatisticsTable;

class StatisticsReduction : public TableReduction<StatisticsTable> {
 public:
  void add(const Snapshot& snapshot) override;
  bool unite() override;
  void clear() override { table_.clear(); }

 private:
  void make_room_for(std::span<const EventKey> keys);

  bool in_place_ = false;  // both have the same events
};
using StatisticsFilter = FilterOf<StatisticsReduction>;

// Histograms that are being filled: each has room for all bins.
struct OpenHistograms {
  std::vector<EventKey> keys;         // ascending
  std::vector<Histogram> histograms;  // [event * metrics + metric]
  std::vector<std::uint32_t> counts;  // of each histogram, `bins` of them
  std::uint32_t bins = 0;             // at most, of each
  std::size_t metrics = metric_count;

  std::span<std::uint32_t> counts_of(std::size_t at) { return std::span(counts).subspan(at * bins, bins); }
  std::span<const std::uint32_t> counts_of(std::size_t at) const { return std::span(counts).subspan(at * bins, bins); }
  void write(Writer& out) const;
};

class HistogramReduction : public Reduction {
 public:
  static constexpr std::uint32_t default_bins = 32;
  explicit HistogramReduction(std::uint32_t bins, bool only_time = false) {
    table_.bins = bins;
    if (only_time) table_.metrics = 1;
  }
  void add(const Snapshot& snapshot) override;
  bool unpack(std::span<const std::byte> reduced) override;
  bool unite() override;
  void write(Writer& out) const override { table_.write(out); }
  void clear() override;
  const OpenHistograms& table() const { return table_; }

 private:
  void make_room_for(std::span<const EventKey> keys);
  void add(std::size_t at, double value) { table_.histograms[at].add(value, table_.counts_of(at)); }

  OpenHistograms table_;
  std::vector<std::uint32_t> place_;
  HistogramTable other_;  // being merged
};
using HistogramFilter = FilterOf<HistogramReduction, std::uint32_t, bool>;

class QuantileReduction : public TableReduction<QuantileTable> {
 public:
  static constexpr double default_error = 0.01;
  explicit QuantileReduction(double error) { table_.error = error; }
  void add(const Snapshot& snapshot) override;
  bool unpack(std::span<const std::byte> reduced) override;
  bool unite() override;
  void clear() override;
};
using QuantileFilter = FilterOf<QuantileReduction, double>;

// All snapshots of a round, by rank. The traffic of a link grows with the ranks below it.
class CollectingReduction : public TableReduction<Collection> {
 public:
  void add(const Snapshot& snapshot) override;
  bool unpack(std::span<const std::byte> reduced) override;
  bool unite() override;
  void clear() override { table_.ranks.clear(); }
};
using CollectingFilter = FilterOf<CollectingReduction>;

}  // namespace tare::tared

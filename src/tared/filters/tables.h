// The filters "statistics", "histogram", "quantiles" and "none", whose results are tables of events (format/round_*.h).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "format/round_histogram.h"
#include "format/round_profiles.h"
#include "format/round_quantiles.h"
#include "format/round_statistics.h"
#include "tared/filters/filter.h"

namespace tare::tared {

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

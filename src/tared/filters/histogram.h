// The filter "histogram" (format/round_histogram.h).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "format/round_histogram.h"
#include "tared/filters/filter.h"

namespace tare::tared {

using format::Histogram;
using format::HistogramTable;

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
  HistogramReduction(std::uint32_t bins, bool only_time) {
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

class HistogramFilter : public Filter {
 public:
  static constexpr std::uint32_t default_bins = 32;
  explicit HistogramFilter(std::uint32_t bins = default_bins, bool only_time = false)
      : bins_(bins), only_time_(only_time) {}
  std::unique_ptr<Reduction> begin() const override { return std::make_unique<HistogramReduction>(bins_, only_time_); }

 private:
  std::uint32_t bins_;
  bool only_time_;
};

}  // namespace tare::tared

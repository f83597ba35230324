// The filter "histogram": for each event and metric, how many ranks have which value.
//
// Bins are as wide as a power of two, and begin at multiples of their width, so the bounds of two histograms are
// aligned: of the wider bins, each is made of whole narrower ones. A histogram has the narrowest bins with which its
// values take at most the given number of bins. Two that meet are widened until their union fits. Widening is
// associative, so the result is exactly the one of all ranks at once, whatever the tree.
//
// Metrics are counts and nanoseconds, so the narrowest bin is one wide. Negative values and NaN count as 0.
#pragma once

#include <cstdint>
#include <vector>

#include "tared/filters/filter.h"

namespace tare::tared {

class Histogram {
 public:
  static constexpr std::uint32_t max_bins = 1024;

  void add(double value, std::uint32_t bins);
  void merge(const Histogram& other, std::uint32_t bins);
  double width() const;
  double begin() const;  // of the first bin
  const std::vector<std::uint32_t>& counts() const { return counts_; }
  void write(Writer& out) const;
  static bool read(Reader& in, Histogram& histogram, std::uint32_t bins);
  bool operator==(const Histogram&) const = default;

 private:
  void widen(std::uint32_t exponent);
  void cover(std::uint64_t first, std::uint64_t last);

  std::uint32_t exponent_ = 0;         // a bin is 2^exponent wide
  std::uint64_t first_ = 0;            // the first bin's begin, in widths
  std::vector<std::uint32_t> counts_;  // neither the first nor the last is 0
};

struct HistogramTable {
  std::vector<EventKey> keys;         // ascending
  std::vector<Histogram> histograms;  // [event * metric_count + metric]
  std::uint32_t bins = 0;             // at most, of each
  void write(Writer& out) const;
  static bool read(Reader& in, HistogramTable& table);
};

class HistogramReduction : public Reduction {
 public:
  explicit HistogramReduction(std::uint32_t bins) { table_.bins = bins; }
  void add(const Snapshot& snapshot) override;
  bool merge(std::span<const std::byte> reduced) override;
  void write(Writer& out) const override { table_.write(out); }
  void clear() override;
  const HistogramTable& table() const { return table_; }

 private:
  HistogramTable table_;
  std::vector<std::uint32_t> place_;
};

class HistogramFilter : public Filter {
 public:
  static constexpr std::uint32_t default_bins = 32;
  explicit HistogramFilter(std::uint32_t bins = default_bins) : bins_(bins) {}
  std::unique_ptr<Reduction> begin() const override { return std::make_unique<HistogramReduction>(bins_); }

 private:
  std::uint32_t bins_;
};

}  // namespace tare::tared

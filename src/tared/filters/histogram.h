// The filter "histogram": for each event and metric, how many ranks have which value. With ":time", only the time, or
// the value of events without a time, such as counters. That takes a third of the work.
//
// The width of bins is a power of two, and they begin at multiples of it. So the bins of two histograms are aligned: a
// wider bin consists of whole narrower ones. A histogram has the narrowest bins with which its values need at most the
// given number of bins. Two histograms are widened until their union fits. Widening is associative, so the result is
// exactly that of all ranks at once, for any tree.
//
// Metrics are counts and nanoseconds, so the narrowest width is one. Negative values and NaN count as 0.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tared/filters/filter.h"

namespace tare::tared {

// The position of the bins of a histogram. The owner has the counts, with room for the most bins; counts after the last
// bin are 0.
class Histogram {
 public:
  static constexpr std::uint32_t max_bins = 1024;

  void add(double value, std::span<std::uint32_t> counts);
  void merge(const Histogram& other, std::span<const std::uint32_t> its_counts, std::span<std::uint32_t> counts);
  double width() const;
  double begin() const;  // the lower bound of the first bin
  // The number of bins. Neither the first nor the last is 0.
  std::uint32_t size() const { return size_; }
  void write(Writer& out, std::span<const std::uint32_t> counts) const;
  // `counts` must have room for everything that is left in `in`.
  static bool read(Reader& in, Histogram& histogram, std::span<std::uint32_t> counts, std::uint32_t bins);

 private:
  // Extends it to the bins from `first` to `last` (of that exponent, which is at least its own). If these do not fit,
  // bins become wider.
  void cover(std::uint32_t exponent, std::uint64_t first, std::uint64_t last, std::span<std::uint32_t> counts);
  void widen(std::uint32_t by, std::span<std::uint32_t> counts);
  std::uint64_t last() const { return first_ + size_ - 1; }

  std::uint64_t first_ = 0;     // start of the first bin, in widths
  std::uint32_t exponent_ = 0;  // a bin is 2^exponent wide
  std::uint32_t size_ = 0;
};

struct HistogramTable {
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
  const HistogramTable& table() const { return table_; }

 private:
  void make_room_for(std::span<const EventKey> keys);
  void add(std::size_t at, double value) { table_.histograms[at].add(value, table_.counts_of(at)); }

  HistogramTable table_;
  std::vector<std::uint32_t> place_;
  HistogramTable other_;  // being merged; its counts follow one another without gaps
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

// The filter "histogram": for each event and metric, how many ranks have which value. With ":time" only of the time,
// and of what has none, as counters, of the value: a third of the work.
//
// Bins are as wide as a power of two, and begin at multiples of their width, so the bounds of two histograms are
// aligned: of the wider bins, each is made of whole narrower ones. A histogram has the narrowest bins with which its
// values take at most the given number of bins. Two that meet are widened until their union fits. Widening is
// associative, so the result is exactly the one of all ranks at once, whatever the tree.
//
// Metrics are counts and nanoseconds, so the narrowest bin is one wide. Negative values and NaN count as 0.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tared/filters/filter.h"

namespace tare::tared {

// Where the bins of a histogram are. Their counts lie where its owner has them, with room for as many as there may be;
// those behind the last bin are 0.
class Histogram {
 public:
  static constexpr std::uint32_t max_bins = 1024;

  void add(double value, std::span<std::uint32_t> counts);
  void merge(const Histogram& other, std::span<const std::uint32_t> its_counts, std::span<std::uint32_t> counts);
  double width() const;
  double begin() const;  // of the first bin
  // So many bins; neither the first nor the last is 0.
  std::uint32_t size() const { return size_; }
  void write(Writer& out, std::span<const std::uint32_t> counts) const;
  // `counts` has room for all that `in` still has.
  static bool read(Reader& in, Histogram& histogram, std::span<std::uint32_t> counts, std::uint32_t bins);

 private:
  // Lets it have the bins from `first` to `last` (of that exponent, which is at least its own) too, if they fit; with
  // wider ones if they do not.
  void cover(std::uint32_t exponent, std::uint64_t first, std::uint64_t last, std::span<std::uint32_t> counts);
  void widen(std::uint32_t by, std::span<std::uint32_t> counts);
  std::uint64_t last() const { return first_ + size_ - 1; }

  std::uint64_t first_ = 0;     // the first bin's begin, in widths
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
  HistogramTable other_;  // being merged; its counts lie one behind the other, as they were read
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

// The result of the filter "histogram": for each event and metric, how many ranks have which value. With ":time", only
// the time, or the value of events without a time, such as counters. That takes a third of the work.
//
// The width of bins is a power of two, and they begin at multiples of it. So the bins of two histograms are aligned: a
// wider bin consists of whole narrower ones. A histogram has the narrowest bins with which its values need at most the
// given number of bins. Two histograms are widened until their union fits. Widening is associative, so the result is
// exactly that of all ranks at once, for any tree.
//
// Metrics are counts and nanoseconds, so the narrowest width is one. Values of counters that have no bin are left out:
// negative ones, NaN, and those beyond 2^62.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "format/round.h"

namespace tare::format {

inline constexpr std::string_view histogram_filter = "histogram";

// Whether a filter "histogram" has one metric for each event. `filter`: its name with arguments.
constexpr bool has_only_time(std::string_view filter) { return filter.ends_with(":time"); }

// The position of the bins of a histogram. The owner has the counts, with room for the most bins; counts after the last
// bin are 0.
class Histogram {
 public:
  static constexpr std::uint32_t max_bins = 1024;

  Histogram() = default;
  Histogram(std::uint32_t exponent, std::uint64_t first, std::uint32_t size)
      : first_(first), exponent_(exponent), size_(size) {}

  void add(double value, std::span<std::uint32_t> counts);
  void merge(const Histogram& other, std::span<const std::uint32_t> its_counts, std::span<std::uint32_t> counts);
  // Makes bins 2^by times as wide.
  void widen(std::uint32_t by, std::span<std::uint32_t> counts);
  std::uint32_t exponent() const { return exponent_; }
  std::uint64_t first() const { return first_; }
  double width() const;
  // The lower bound of a bin; that of bin `size()` is the upper bound of the last one.
  double low(std::uint32_t bin) const { return static_cast<double>(first_ + bin) * width(); }
  // The number of bins. Neither the first nor the last is 0.
  std::uint32_t size() const { return size_; }
  void write(Writer& out, std::span<const std::uint32_t> counts) const;
  // Appends its counts. False if it has more than `bins`.
  static bool read(Reader& in, Histogram& histogram, std::vector<std::uint32_t>& counts, std::uint32_t bins);

 private:
  // Extends it to the bins from `first` to `last` (of that exponent, which is at least its own). If these do not fit,
  // bins become wider.
  void cover(std::uint32_t exponent, std::uint64_t first, std::uint64_t last, std::span<std::uint32_t> counts);
  std::uint64_t last() const { return first_ + size_ - 1; }

  std::uint64_t first_ = 0;     // start of the first bin, in widths
  std::uint32_t exponent_ = 0;  // a bin is 2^exponent wide
  std::uint32_t size_ = 0;
};

struct HistogramTable {
  std::uint32_t bins = 0;             // at most, of each
  std::vector<EventKey> keys;         // ascending
  std::vector<Histogram> histograms;  // [event * metrics + metric]
  std::vector<std::uint32_t> counts;  // of each histogram, without gaps

  // Its counts keep their memory. `metrics`: of each event.
  static bool read(Reader& in, HistogramTable& table, std::size_t metrics);
};

}  // namespace tare::format

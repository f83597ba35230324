// Stretches of time of equal length, each with what a location did in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "reader/time_arithmetic.h"
#include "reader/timeline/activity.h"

namespace tare::reader {

struct Bin {
  static constexpr std::uint16_t whole = 65535;
  static constexpr std::uint16_t no_function = 65535;

  std::uint16_t share[activities] = {};  // of the time of the bin; what is left is no call
  std::uint16_t function = no_function;  // the one with the most time; of several bins, of their most frequent ones
  std::uint16_t function_share = 0;

  void add(Activity activity, double part);
};

// A span of time cut into bins.
struct Grid {
  std::int64_t from_ns = 0, to_ns = 0;
  std::size_t bins = 0;

  double width_ns() const { return static_cast<double>(difference(to_ns, from_ns)) / static_cast<double>(bins); }
  // Where a time lies, counted in bins; outside of the span, at its ends.
  double place(std::int64_t time_ns) const;
};

// Fills the bins of one location. Calls come in the order of time and do not overlap; where damaged ones do, the later
// one is taken to begin where the other ended.
class BinFiller {
 public:
  // `bins`: grid.bins empty ones, which must outlive it. `functions`: how many numbers there are.
  BinFiller(const Grid& grid, Bin* bins, std::size_t functions);

  void add_call(std::int64_t start_ns, std::int64_t end_ns, Activity activity, std::uint16_t function);
  // In any order: they lie within calls or between them.
  void add_flush(std::int64_t start_ns, std::int64_t end_ns);
  // After the last call.
  void finish();

 private:
  void close();

  const Grid grid_;
  Bin* const bins_;
  // Of the bin at hand, in bins.
  std::size_t current_ = 0;
  double reached_ = 0;
  double spent_[activities] = {};
  std::vector<double> of_function_;
  std::vector<std::uint16_t> touched_;
};

// Sums of bins over a stretch, or over locations, each with a weight.
class BinSum {
 public:
  void add(const Bin& bin, double weight);
  Bin take();

 private:
  struct OfFunction {
    std::uint16_t function;
    double share;
  };
  double share_[activities] = {};
  double weight_ = 0;
  std::vector<OfFunction> functions_;
};

// Every `factor` neighbouring bins as one.
std::vector<Bin> coarser(const std::vector<Bin>& bins, std::size_t factor);

}  // namespace tare::reader

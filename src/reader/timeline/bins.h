// Bins: time intervals of equal length, each with the share of every activity of a location.
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

  // Shares of the time of the bin, as multiples of 1 / whole. The rest of the time is outside of calls. Flushes overlap
  // with other activities.
  std::uint16_t share[activities] = {};
  // The function with the most time, and its share. A sum of bins only considers the `function` of each of them.
  std::uint16_t function = no_function;
  std::uint16_t function_share = 0;

  // `part`: 0 to 1. Saturates.
  void add(Activity activity, double part);
};

// A time interval that is divided into bins.
struct Grid {
  std::int64_t from_ns = 0, to_ns = 0;
  std::size_t bins = 0;

  double width_ns() const { return static_cast<double>(difference(to_ns, from_ns)) / static_cast<double>(bins); }
  // The position of a time in units of bins, clamped to 0 and `bins`.
  double place(std::int64_t time_ns) const;
};

// Fills the bins of one location. Calls must be added in the order of time. Calls do not overlap; if damaged ones do,
// the later one is taken to begin where the earlier one ended.
class BinFiller {
 public:
  // `bins`: an array of grid.bins empty bins, which must outlive the object. `functions`: number of functions of the
  // run.
  BinFiller(const Grid& grid, Bin* bins, std::size_t functions);

  void add_call(std::int64_t start_ns, std::int64_t end_ns, Activity activity, std::uint16_t function);
  // In any order. A flush may lie within a call or between calls.
  void add_flush(std::int64_t start_ns, std::int64_t end_ns);
  // Must be called after the last call was added.
  void finish();

 private:
  void close();

  const Grid grid_;
  Bin* const bins_;
  // The bin that is being filled. Times are in units of bins.
  std::size_t current_ = 0;
  double reached_ = 0;
  double spent_[activities] = {};
  std::vector<double> of_function_;
  std::vector<std::uint16_t> touched_;
};

// Time of an activity becomes time of Activity::waiting.
void mark_wait(const Grid& grid, Bin* bins, std::int64_t start_ns, std::int64_t end_ns, Activity activity);

// The weighted mean of bins, of a time interval or of several locations.
class BinSum {
 public:
  void add(const Bin& bin, double weight);
  // Returns the mean and starts anew.
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

// Merges every `factor` neighbouring bins into one.
std::vector<Bin> coarser(const std::vector<Bin>& bins, std::size_t factor);

}  // namespace tare::reader

// The time in the wrappers of all calls, estimated from a sample: the weighed calls (recorder/account/weighing.h).
#pragma once

#include <cstdint>

#include "format/weighed.h"

namespace tare::reader {

// All calls, and the weighed calls among them, by kind (format/weighed.h).
struct WeighedTotals {
  std::uint64_t calls[format::weighed_kinds] = {};
  format::WeighedCalls weighed[format::weighed_kinds] = {};

  void add(const format::WeighedCalls& more) noexcept;
  void add(const WeighedTotals& more) noexcept;
};

// Times are in ticks.
struct Weight {
  double ticks = 0;           // of all wrappers
  double half_width = 0;      // of the 95 % confidence interval of `ticks`; NaN: not known
  std::uint64_t weighed = 0;  // number of weighed calls
  double call = 0;            // mean wrapper time of all calls
  double timed_call = 0;      // mean wrapper time of the calls that are timed
};

// A stratified estimate with the kinds of calls as strata (Cochran, Sampling Techniques, 3rd ed., section 5.3): the
// time of a kind is its number of calls times its sample mean, and the variances of the kinds add up. The first calls
// of a thread are all weighed, so their time is known and not estimated. A kind with fewer than two sampled calls gets
// the mean and the variance of all kinds together.
Weight weight_of(const WeighedTotals& totals) noexcept;

}  // namespace tare::reader

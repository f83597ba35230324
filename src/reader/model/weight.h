// What the wrappers of all calls took, estimated from those that were weighed (recorder/account/weighing.h).
#pragma once

#include <cstdint>

#include "format/weighed.h"

namespace tare::reader {

// Calls by kind (format/weighed.h), and those of them that were weighed.
struct WeighedTotals {
  std::uint64_t calls[format::weighed_kinds] = {};
  format::WeighedCalls weighed[format::weighed_kinds] = {};

  void add(const format::WeighedCalls& more) noexcept;
  void add(const WeighedTotals& more) noexcept;
};

// In ticks.
struct Weight {
  double ticks = 0;       // of all wrappers
  double half_width = 0;  // of the interval that holds the truth with probability 0.95; NaN: not known
  std::uint64_t weighed = 0;
  double timed_call = 0;  // the mean of the calls that are timed
};

// Stratified by kind (Cochran, Sampling Techniques, 3rd ed., section 5.3): each kind is its number of calls times the
// mean of its sample, the variances add up. The first calls of a thread, all of which were weighed, count as they are.
// A kind with fewer than two calls in the sample has the mean and the variance of all kinds.
Weight weight_of(const WeighedTotals& totals) noexcept;

}  // namespace tare::reader

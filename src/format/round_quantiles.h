// The result of the filter "quantiles": for each event and metric, any quantile over ranks with a bounded relative
// error.
//
// The sketch is DDSketch (Masson, Rim, Lee: DDSketch: a fast and fully-mergeable quantile sketch with relative-error
// guarantees, VLDB 2019). A value x > 0 counts in bucket ceil(log_g(x)), g = (1 + e) / (1 - e), and is read as 2 g^i /
// (g + 1), which differs from it by at most e * x. If there are more than max_buckets, the lowest are joined; then the
// bound does not hold for quantiles in that one. Buckets depend only on the values, so the result is exactly that of
// all ranks at once, for any tree.
//
// Values below 1 (nanosecond, call, byte) count as 0. If one of them is another value, as those of counters may be, or
// NaN, the bound does not hold for quantiles that are 0.
#pragma once

#include <cstdint>
#include <vector>

#include "format/round.h"

namespace tare::format {

class QuantileSketch {
 public:
  static constexpr std::uint32_t max_buckets = 2048;  // with e = 0.01: a factor of 6e17 between least and most

  void add(double value, double error);
  void merge(const QuantileSketch& other);
  // The lower of two values, as in the paper: the value of rank floor(q (n - 1)); 0 if there is none.
  double quantile(double q, double error) const;
  std::uint64_t count() const;
  // Whether the error of the quantile is bounded.
  bool is_bounded(double q) const;
  void write(Writer& out) const;
  static bool read(Reader& in, QuantileSketch& sketch);
  bool operator==(const QuantileSketch&) const = default;

 private:
  struct Bucket {
    std::uint32_t index;
    std::uint32_t count;
    bool operator==(const Bucket&) const = default;
  };
  void collapse();
  const Bucket* bucket_of(double q) const;

  std::uint64_t zeros_ = 0;
  std::vector<Bucket> buckets_;  // ascending; all within max_buckets of the last
  bool collapsed_ = false;       // the bound does not hold for the lowest
};

struct QuantileTable {
  static constexpr double min_error = 0.0001;
  static constexpr double max_error = 0.5;
  std::vector<EventKey> keys;            // ascending
  std::vector<QuantileSketch> sketches;  // [event * metric_count + metric]
  double error = 0;                      // relative, of each quantile
  void write(Writer& out) const;
  static bool read(Reader& in, QuantileTable& table);
};

}  // namespace tare::format

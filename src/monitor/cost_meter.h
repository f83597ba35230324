// What offloads cost this process, as Nataraj et al. (CLUSTER 2008) define it:
//
//   direct    from the start of an offload to its end
// overall   by how much an iteration with an offload is longer than one without. An iteration is the time between two
// points that the program makes. An iteration with an offload is compared with the last one before it without, so a
// program that becomes slower does not look like a cost.
//
// One thread at a time adds values. Any thread may read them, and waits for none.
#pragma once

#include <cstdint>

#include "format/published.h"

namespace tare::monitor {

// Mean and standard deviation of values that come one by one (Welford 1962).
class Running {
 public:
  void add(double value) noexcept;
  std::uint64_t count() const noexcept { return count_; }
  double mean() const noexcept { return mean_; }
  double deviation() const noexcept;

 private:
  std::uint64_t count_ = 0;
  double mean_ = 0;
  double squares_ = 0;
};

class CostMeter {
 public:
  struct Costs {
    std::uint64_t offloads = 0;
    std::uint64_t comparisons = 0;  // of iterations
    double direct = 0;              // in ticks, as all values here
    double direct_deviation = 0;
    double overall = 0;
    double overall_deviation = 0;
  };

  void offloaded(std::uint64_t ticks) noexcept;
  // The program has reached a point at `ticks`. `offloads`: whether the point is an offload.
  void point(std::uint64_t ticks, bool offloads) noexcept;
  // False if there was no offload yet.
  bool costs(Costs& costs) const noexcept { return published_.read(costs); }
  void reset() noexcept;

 private:
  Running direct_, overall_;
  std::uint64_t last_ticks_ = 0;  // of the last point; 0: there was none
  bool last_offloads_ = false;
  double without_ = -1;  // the last iteration without an offload; < 0: there is none to compare with
  format::Published<Costs> published_;
};

}  // namespace tare::monitor

#include "monitor/cost_meter.h"

#include <cmath>

namespace tare::monitor {

void Running::add(double value) noexcept {
  const double step = value - mean_;
  mean_ += step / static_cast<double>(++count_);
  squares_ += step * (value - mean_);
}

double Running::deviation() const noexcept {
  return count_ < 2 ? 0 : std::sqrt(squares_ / static_cast<double>(count_ - 1));
}

void CostMeter::offloaded(std::uint64_t ticks) noexcept {
  direct_.add(static_cast<double>(ticks));
  published_.publish(
      {direct_.count(), overall_.count(), direct_.mean(), direct_.deviation(), overall_.mean(), overall_.deviation()});
}

void CostMeter::point(std::uint64_t ticks, bool offloads) noexcept {
  if (last_ticks_ != 0 && ticks > last_ticks_) {
    const auto iteration = static_cast<double>(ticks - last_ticks_);
    if (!last_offloads_)
      without_ = iteration;
    else if (without_ >= 0)
      overall_.add(iteration - without_);
    if (last_offloads_) without_ = -1;
  }
  last_ticks_ = ticks;
  last_offloads_ = offloads;
}

void CostMeter::reset() noexcept {
  direct_ = overall_ = {};
  last_ticks_ = 0;
  last_offloads_ = false;
  without_ = -1;
  published_.clear();
}

}  // namespace tare::monitor

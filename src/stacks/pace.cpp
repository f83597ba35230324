#include "stacks/pace.h"

#include <algorithm>

namespace tare::stacks {
namespace {

constexpr double averaged = 16;                            // the number of samples over which costs are averaged
constexpr double unusual = 8;                              // a sample that takes so many times the mean was interrupted
constexpr std::uint64_t max_interval_ns = 10'000'000'000;  // or the next that is longer

}  // namespace

void Pace::begin(std::uint64_t asked_ns) noexcept {
  asked_ns_ = interval_ns_ = asked_ns;
  mean_cost_ns_ = 0;
}

bool Pace::note_cost(std::uint64_t cost_ns, double most) noexcept {
  if (most <= 0) return false;
  const auto cost = static_cast<double>(cost_ns);
  if (mean_cost_ns_ == 0)
    mean_cost_ns_ = cost;
  else
    mean_cost_ns_ += (std::min(cost, unusual * mean_cost_ns_) - mean_cost_ns_) / averaged;
  const double least_ns = mean_cost_ns_ / most;
  const std::uint64_t before = interval_ns_;
  while (static_cast<double>(interval_ns_) < least_ns && interval_ns_ < max_interval_ns) interval_ns_ *= 2;
  // Halved only if that leaves twice the room that is needed, so that the interval does not go up and down.
  while (interval_ns_ > asked_ns_ && static_cast<double>(interval_ns_) >= 4 * least_ns) interval_ns_ /= 2;
  return interval_ns_ != before;
}

}  // namespace tare::stacks

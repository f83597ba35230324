#include "tared/boi/point_clock.h"

#include <algorithm>
#include <vector>

#include "tared/boi/boi_search.h"

namespace tare::tared {

namespace {
constexpr std::size_t last_points = 9;
}

PointClock::PointClock(std::int64_t point_ns, std::int64_t epoch_ns)
    : is_by_program_(false), point_ns_(static_cast<double>(point_ns)), last_{0, epoch_ns} {}

// The median, because a program may stop between two points to write a file.
void PointClock::add(std::uint64_t point, std::int64_t offloaded_ns) {
  if (!is_by_program_ || (!points_.empty() && point <= points_.back().number)) return;
  last_ = {point, offloaded_ns};
  points_.push_back(last_);
  if (points_.size() > last_points) points_.pop_front();
  std::vector<double> apart;
  for (std::size_t i = 1; i < points_.size(); ++i)
    apart.push_back(static_cast<double>(points_[i].ns - points_[i - 1].ns) /
                    static_cast<double>(points_[i].number - points_[i - 1].number));
  if (!apart.empty()) point_ns_ = std::max(median_of(std::move(apart)), 1.0);
}

std::int64_t PointClock::time_of(std::uint64_t point) const {
  const auto since = static_cast<std::int64_t>(point) - static_cast<std::int64_t>(last_.number);
  return last_.ns + static_cast<std::int64_t>(static_cast<double>(since) * point_ns_);
}

std::uint64_t PointClock::point_after(std::int64_t time_ns) const {
  const double since = static_cast<double>(std::max<std::int64_t>(time_ns - last_.ns, 0)) / point_ns_;
  return last_.number + static_cast<std::uint64_t>(since) + 1;
}

}  // namespace tare::tared

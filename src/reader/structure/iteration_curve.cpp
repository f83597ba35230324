#include "reader/structure/iteration_curve.h"

#include <algorithm>
#include <iterator>

#include "reader/time_arithmetic.h"
#include "reader/timeline/row_index.h"

namespace tare::reader {
namespace {

struct OfRank {
  const Loop* loop;
  std::uint32_t row;
};

// The iteration of a rank that has the number; or, where these need not correspond, that is beside `reference`;
// nullptr: none.
const Iteration* corresponding(const Loop& of, std::size_t number, const Iteration& reference) {
  if (!of.has_gaps) return number < of.listed.size() ? &of.listed[number] : nullptr;
  const auto next =
      std::upper_bound(of.listed.begin(), of.listed.end(), sum(reference.start_ns, reference.duration_ns / 2),
                       [](std::int64_t time_ns, const Iteration& each) { return time_ns < each.start_ns; });
  return next != of.listed.begin() && std::prev(next)->is_beside(reference) ? &*std::prev(next) : nullptr;
}

IterationPoint point_of(const Timeline& timeline, const std::vector<OfRank>& ranks, std::size_t number,
                        const Iteration& reference) {
  IterationPoint point;
  point.number = static_cast<std::uint32_t>(number);
  double computing = 0, most_computing = 0, waiting = 0, count = 0;
  for (const auto& [loop, row] : ranks) {
    const Iteration* its = corresponding(*loop, number, reference);
    if (its == nullptr) continue;
    const auto outside_ns = static_cast<double>(difference(its->duration_ns, its->mpi_ns));
    computing += outside_ns;
    most_computing = std::max(most_computing, outside_ns);
    waiting += static_cast<double>(timeline.waited_ns(row, its->start_ns, its->end_ns()));
    if (count++ == 0 || its->duration_ns > point.longest_ns) {
      point.row = row;
      point.start_ns = its->start_ns;
      point.longest_ns = its->duration_ns;
    }
  }
  point.imbalance_ns = most_computing - computing / count;
  if (timeline.has_waits()) point.waiting_ns = waiting / count;
  return point;
}

}  // namespace

std::vector<IterationPoint> iteration_curve(const Timeline& timeline, const std::vector<const Loop*>& loops,
                                            std::size_t most) {
  const RowIndex rows(timeline);
  std::vector<OfRank> ranks;
  const Loop* longest = nullptr;
  for (const Loop* loop : loops)
    if (const auto row = rows.find(loop->world, loop->rank, loop->thread)) {
      ranks.push_back({loop, *row});
      if (longest == nullptr || loop->listed.size() > longest->listed.size()) longest = loop;
    }
  std::vector<IterationPoint> points;
  if (most == 0 || longest == nullptr) return points;
  const std::size_t count = longest->listed.size();
  const std::size_t each = (count + most - 1) / most;
  for (std::size_t number = 0; number < count; ++number) {
    const IterationPoint point = point_of(timeline, ranks, number, longest->listed[number]);
    if (number % each == 0)
      points.push_back(point);
    else if (point.longest_ns > points.back().longest_ns)
      points.back() = point;
  }
  return points;
}

}  // namespace tare::reader

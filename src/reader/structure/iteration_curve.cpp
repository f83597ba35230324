#include "reader/structure/iteration_curve.h"

#include <algorithm>

#include "reader/time_arithmetic.h"
#include "reader/timeline/row_index.h"

namespace tare::reader {
namespace {

struct OfRank {
  const Loop* loop;
  std::uint32_t row;
};

IterationPoint point_of(const Timeline& timeline, const std::vector<OfRank>& ranks, std::size_t number) {
  IterationPoint point;
  point.number = static_cast<std::uint32_t>(number);
  double computing = 0, most_computing = 0, waiting = 0, count = 0;
  for (const auto& [loop, row] : ranks) {
    if (number >= loop->listed.size()) continue;
    const Iteration& its = loop->listed[number];
    const auto outside_ns = static_cast<double>(difference(its.duration_ns, its.mpi_ns));
    computing += outside_ns;
    most_computing = std::max(most_computing, outside_ns);
    waiting += static_cast<double>(timeline.waited_ns(row, its.start_ns, sum(its.start_ns, its.duration_ns)));
    if (count++ == 0 || its.duration_ns > point.longest_ns) {
      point.row = row;
      point.start_ns = its.start_ns;
      point.longest_ns = its.duration_ns;
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
  std::size_t count = 0;
  for (const Loop* loop : loops)
    if (const auto row = rows.find(loop->world, loop->rank, loop->thread)) {
      ranks.push_back({loop, *row});
      count = std::max(count, loop->listed.size());
    }
  std::vector<IterationPoint> points;
  if (most == 0) return points;
  const std::size_t each = (count + most - 1) / most;
  for (std::size_t number = 0; number < count; ++number) {
    const IterationPoint point = point_of(timeline, ranks, number);
    if (number % each == 0)
      points.push_back(point);
    else if (point.longest_ns > points.back().longest_ns)
      points.back() = point;
  }
  return points;
}

}  // namespace tare::reader

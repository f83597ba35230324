// Knows the times of offload points. The interval between points that the clock makes is given. That between points
// that the program makes is estimated from the last rounds, whose numbers are those of points.
#pragma once

#include <cstdint>
#include <deque>

namespace tare::tared {

class PointClock {
 public:
  // Made by the clock: point n comes n * `point_ns` after `epoch_ns` (Unix time).
  PointClock(std::int64_t point_ns, std::int64_t epoch_ns);
  // Made by the program.
  PointClock() = default;

  // Adds a point that was an offload. Points must ascend.
  void add(std::uint64_t point, std::int64_t offloaded_ns);

  bool is_by_program() const { return is_by_program_; }
  bool is_known() const { return point_ns_ > 0; }
  double point_ns() const { return point_ns_; }  // between two points
  std::int64_t time_of(std::uint64_t point) const;
  // The first point after that time.
  std::uint64_t point_after(std::int64_t time_ns) const;

 private:
  struct Point {
    std::uint64_t number;
    std::int64_t ns;
  };

  bool is_by_program_ = true;
  double point_ns_ = 0;
  Point last_{};  // a point whose time is known
  std::deque<Point> points_;
};

}  // namespace tare::tared

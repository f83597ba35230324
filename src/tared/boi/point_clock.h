// When offload points come. Those of the clock are as far apart as was said; those of the program are as far apart as
// the last rounds tell, whose numbers are those of points.
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

  // A point that was an offload; points ascend.
  void add(std::uint64_t point, std::int64_t offloaded_ns);

  bool is_by_program() const { return is_by_program_; }
  bool is_known() const { return point_ns_ > 0; }
  double point_ns() const { return point_ns_; }  // from one to the next
  std::int64_t time_of(std::uint64_t point) const;
  // One that is yet to come at that time.
  std::uint64_t point_after(std::int64_t time_ns) const;

 private:
  struct Point {
    std::uint64_t number;
    std::int64_t ns;
  };

  bool is_by_program_ = true;
  double point_ns_ = 0;
  Point last_{};  // one of which the time is known
  std::deque<Point> points_;
};

}  // namespace tare::tared

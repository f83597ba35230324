// How the times of a trace are moved, to correct clocks or to take out the cost of measuring (reader/retiming).
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace tare::reader {

// A piecewise linear function that moves times. A knot says by how much its time moves. Between two knots, the offset
// is interpolated linearly; after the last knot it stays the same; before the first knot it is 0. The function never
// decreases, so it keeps the order of times.
class TimeMap {
 public:
  struct Knot {
    std::int64_t at_ns, offset_ns;
    bool operator==(const Knot&) const = default;
  };

  // Knots are added in the order of time. If a knot would change the order of times, its time or the time that it is
  // moved to is raised to that of the knot before it.
  void add(std::int64_t at_ns, std::int64_t offset_ns);
  std::int64_t operator()(std::int64_t ns) const;
  // The latest time that is moved to `ns`. If no time is moved to it, the latest time that is moved to an earlier one.
  std::int64_t inverse(std::int64_t ns) const;
  // The composition: applies this map first, then `next`.
  TimeMap then(const TimeMap& next) const;

  const std::vector<Knot>& knots() const { return knots_; }
  std::int64_t last_offset_ns() const { return knots_.empty() ? 0 : knots_.back().offset_ns; }

 private:
  std::vector<Knot> knots_;
};

// The maps of the threads of a process.
struct TimeMaps {
  TimeMap process;                                     // for threads that have no map of their own
  std::unordered_map<std::uint32_t, TimeMap> threads;  // by number of the thread

  const TimeMap& of(std::uint32_t thread) const {
    const auto found = threads.find(thread);
    return found == threads.end() ? process : found->second;
  }
};

}  // namespace tare::reader

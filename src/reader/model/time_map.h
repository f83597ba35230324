// Where the times of a trace are moved to, by who corrects clocks or takes out what measuring cost (reader/retiming).
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace tare::reader {

// Moves times: by nothing before the first knot, by the offset of a knot at it, between two knots in proportion, and
// behind the last by its offset. Never changes the order of two times.
class TimeMap {
 public:
  struct Knot {
    std::int64_t at_ns, offset_ns;
    bool operator==(const Knot&) const = default;
  };

  // Knots are added in the order of time. One that would change the order of times is moved up to the one before it.
  void add(std::int64_t at_ns, std::int64_t offset_ns);
  std::int64_t operator()(std::int64_t ns) const;
  // The latest time that is moved to `ns`, or before it where none is.
  std::int64_t inverse(std::int64_t ns) const;
  // First this one, then the other.
  TimeMap then(const TimeMap& next) const;

  const std::vector<Knot>& knots() const { return knots_; }
  std::int64_t last_offset_ns() const { return knots_.empty() ? 0 : knots_.back().offset_ns; }

 private:
  std::vector<Knot> knots_;
};

// Those of a process.
struct TimeMaps {
  TimeMap process;                                     // of threads that have none of their own
  std::unordered_map<std::uint32_t, TimeMap> threads;  // by number

  const TimeMap& of(std::uint32_t thread) const {
    const auto found = threads.find(thread);
    return found == threads.end() ? process : found->second;
  }
};

}  // namespace tare::reader

// The last calls of a thread, and the time between them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "reader/time_arithmetic.h"
#include "reader/waits/wait_state.h"

namespace tare::reader {

// A call, or several polls in a row.
struct Segment {
  std::uint64_t number = 0;  // of the first call in its thread
  std::int64_t enter_ns = 0;
  std::int64_t gap_ns = 0;                          // time outside MPI before it
  std::int64_t call_ns = 0;                         // time in the calls
  std::int64_t wait_ns = 0;                         // part of call_ns: waiting
  std::int64_t descheduled_ns = 0, blocked_ns = 0;  // parts of gap_ns
  std::int64_t descheduled_in_call_ns = 0;          // part of call_ns that is no waiting
  std::int32_t site = -1;
  std::vector<RootCause> roots{};  // of the wait
};

// The last segments of a thread, in a ring buffer.
class History {
 public:
  void add(Segment segment, std::size_t capacity) {
    if (ring_.size() < capacity) {
      ring_.push_back(std::move(segment));
    } else {
      ring_[begin_] = std::move(segment);
      begin_ = begin_ + 1 == ring_.size() ? 0 : begin_ + 1;
    }
  }
  bool empty() const { return ring_.empty(); }
  std::size_t size() const { return ring_.size(); }
  const Segment& operator[](std::size_t i) const { return ring_[index(i)]; }
  Segment& operator[](std::size_t i) { return ring_[index(i)]; }
  Segment& back() { return ring_[index(ring_.size() - 1)]; }

  // The first segment that begins with call `number` or a later one.
  std::size_t find(std::uint64_t number) const {
    return partition([number](const Segment& segment) { return segment.number < number; });
  }
  // The segment that contains call `number`, or the first later one.
  std::size_t find_containing(std::uint64_t number) const {
    const std::size_t at = find(number);
    const bool begins_there = at < size() && (*this)[at].number == number;
    return begins_there || at == 0 ? at : at - 1;
  }
  // The first segment that ends after this time.
  std::size_t find_at(std::int64_t time_ns) const {
    return partition([time_ns](const Segment& segment) { return sum(segment.enter_ns, segment.call_ns) <= time_ns; });
  }

 private:
  // The number of segments from the first on for which this holds.
  template <class Holds>
  std::size_t partition(const Holds& holds) const {
    std::size_t low = 0, high = ring_.size();
    while (low < high) {
      const std::size_t middle = (low + high) / 2;
      if (holds((*this)[middle]))
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }
  std::size_t index(std::size_t i) const {
    const std::size_t at = begin_ + i;
    return at < ring_.size() ? at : at - ring_.size();
  }

  std::vector<Segment> ring_;
  std::size_t begin_ = 0;
};

}  // namespace tare::reader

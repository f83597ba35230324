// Unexpected messages: they were sent before their receive was posted, so that MPI had to keep them, and to look for
// them when they were received. docs/analyses.md says when that costs time.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "reader/matching/message.h"

namespace tare::reader {

// Those of one sender that the receives of a function at a site of a rank took.
struct UnexpectedSum {
  std::int32_t world = 0, rank = -1, source = -1;
  std::uint16_t function = 0;
  std::int32_t site = -1;
  std::uint64_t messages = 0, bytes = 0;
  std::uint32_t longest_queue = 0;  // of messages that had been sent to the rank, with this one
  // Receives that took more than twice as long as usual for messages of this size, and by how much all of these did.
  std::uint64_t slow = 0;
  std::int64_t time_ns = 0;
};

class Unexpected {
 public:
  // `end`: of a send. To be called with all of them.
  void add(const End& end);
  std::vector<UnexpectedSum> sums() const;  // the one with the most time first, then the one with the most messages

 private:
  // Times, by their logarithm.
  struct Times {
    struct Bin {
      std::uint64_t calls = 0;
      std::int64_t time_ns = 0;
    };
    std::map<int, Bin> bins{};
    void add(std::int64_t time_ns);
    double median_ns() const;  // 0: of too few
  };
  // By world, rank, function and size.
  using Kind = std::tuple<std::int32_t, std::int32_t, std::uint16_t, int>;
  struct Of {
    UnexpectedSum sum{};
    std::map<int, Times> times{};  // by size
  };

  double usual_ns(const Kind& kind) const;

  // Of receives that were posted in time, and of those of messages of a short queue.
  std::map<Kind, std::array<Times, 2>> usual_;
  std::map<std::tuple<std::int32_t, std::int32_t, std::int32_t, std::uint16_t, std::int32_t>, Of> all_;
};

}  // namespace tare::reader

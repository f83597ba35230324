// Stretches of time in which a rank calls a line again and again, found in one reading, without keeping the calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "reader/structure/rank_calls.h"
#include "reader/time_arithmetic.h"

namespace tare::reader {

// A loop has more iterations than this. What returns as often or less is told apart as phases.
inline constexpr std::size_t most_returns = 8;

// What is this many intervals of a line, or less, is no longer than usual.
inline constexpr std::int64_t usual_pauses = 2;

// The calls of a line that follow one another, or the time outside MPI before the first of them, if that is longer than
// usual.
struct Stretch {
  std::int64_t from_ns = 0, to_ns = 0;
  std::int64_t time_ns = 0;  // in the calls, and before each but the first
  std::int64_t mpi_ns = 0;   // in the calls
  std::uint64_t calls = 0;
  std::uint32_t line = 0;
  bool is_before = false;

  // From one call to the next on average; 0 of so few that they are no loop.
  std::int64_t interval_ns() const {
    return calls > most_returns ? difference(to_ns, from_ns) / static_cast<std::int64_t>(calls) : 0;
  }
};

// The calls of one line of one rank. Memory is that of the longest pauses.
class Repeats {
 public:
  void add(const RankCall& call);
  // The pauses that divide the calls: they are few, `shortest_ns` at least, and far longer than the next one.
  void stretches(std::uint32_t line, std::int64_t shortest_ns, std::vector<Stretch>& to) const;

 private:
  static constexpr std::int64_t far_longer = 4;
  static constexpr std::size_t kept = most_returns + 1;

  // Between two calls; what the calls up to the pause sum up to.
  struct Pause {
    std::int64_t length_ns, from_ns, to_ns, before_ns;
    std::int64_t time_ns, mpi_ns;
    std::uint64_t calls;
  };
  Stretch between(std::uint32_t line, const Pause& begin, const Pause& end) const;

  std::vector<Pause> longest_;  // the longest first
  Pause first_{};               // before the first call
  std::int64_t last_end_ns_ = 0, last_lost_ns_ = 0;
  std::int64_t time_ns_ = 0, mpi_ns_ = 0;
  std::uint64_t calls_ = 0;
};

}  // namespace tare::reader

// Finds stretches: intervals in which a rank calls a line repeatedly. Reads the calls once and does not store them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "reader/structure/rank_calls.h"
#include "reader/time_arithmetic.h"

namespace tare::reader {

// A loop has more iterations than this. A line that returns this often or less returns in separate phases.
inline constexpr std::size_t max_returns = 8;

// A pause of at most this many intervals between calls of a line is usual.
inline constexpr std::int64_t usual_pauses = 2;

// Successive calls of a line without long pauses; or the time outside MPI before the first of them, if it is longer
// than usual.
struct Stretch {
  std::int64_t from_ns = 0, to_ns = 0;
  std::int64_t time_ns = 0;  // in the calls, and outside MPI before each of them except the first
  std::int64_t mpi_ns = 0;   // in the calls
  std::uint64_t calls = 0;
  std::uint32_t line = 0;
  bool is_before = false;  // it is the time before the calls

  // The mean time from one call to the next; 0 if there are too few calls for a loop.
  std::int64_t interval_ns() const {
    return calls > max_returns ? difference(to_ns, from_ns) / static_cast<std::int64_t>(calls) : 0;
  }
};

// The calls of one line of one rank. Only the longest pauses between them are stored.
class Repeats {
 public:
  void add(const RankCall& call);
  // Appends the stretches. The calls are divided at pauses of at least `shortest_ns` that are far longer than all other
  // pauses; at most 8 of them.
  void stretches(std::uint32_t line, std::int64_t shortest_ns, std::vector<Stretch>& to) const;

 private:
  static constexpr std::int64_t far_longer = 4;
  static constexpr std::size_t kept = max_returns + 1;

  // A pause between two calls, with the sums over the calls before it.
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

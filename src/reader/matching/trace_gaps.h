// Ranks from whose traces records are missing. What such a rank did from its first gap on cannot be numbered, nor what
// others did together with it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reader/run/run.h"

namespace tare::reader {

class TraceGaps {
 public:
  // None yet. The run must outlive it.
  explicit TraceGaps(Run& run) : run_(run), communicators_(run.communicators().size()) {}

  // A gap begins in the trace of this rank of a world. Both numbers are at least 0.
  void add(std::int32_t world, std::int32_t rank);

  bool has_rank(std::int32_t world, std::int32_t rank) const {
    if (world < 0 || rank < 0) return false;
    const auto w = static_cast<std::size_t>(world), r = static_cast<std::size_t>(rank);
    return w < ranks_.size() && r < ranks_[w].size() && ranks_[w][r];
  }
  // Whether a rank with a gap is, or may be, a member. `communicator`: an index in Run::communicators().
  bool has_communicator(std::int32_t communicator) const {
    return communicators_[static_cast<std::size_t>(communicator)];
  }

  // A line for people about each rank with a gap.
  const std::vector<std::string>& lines() const { return lines_; }

 private:
  Run& run_;
  std::vector<std::vector<bool>> ranks_;  // by world
  std::vector<bool> communicators_;
  std::vector<std::string> lines_;
};

}  // namespace tare::reader

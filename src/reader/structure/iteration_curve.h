// How the iterations of a loop go on in the course of the run, over the ranks that have them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "reader/structure/iterations.h"
#include "reader/timeline/timeline.h"

namespace tare::reader {

struct IterationPoint {
  std::uint32_t number = 0;  // of the iteration, from 0 on the rank with the most of them
  // On the rank on which it takes longest: the row of the timeline, Unix time, and its duration.
  std::uint32_t row = 0;
  std::int64_t start_ns = 0, longest_ns = 0;
  double imbalance_ns = 0;             // time outside MPI: that of the rank with the most, minus the mean
  std::optional<double> waiting_ns{};  // time in wait states, mean of the ranks; none if the timeline has no waits
};

// `loops`: one of each rank, in the same phase. Of more than `most` iterations, each point is the longest of several.
std::vector<IterationPoint> iteration_curve(const Timeline& timeline, const std::vector<const Loop*>& loops,
                                            std::size_t most);

}  // namespace tare::reader

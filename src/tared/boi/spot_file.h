// What is known about monitoring trees between runs. `tare run` keeps it (python/tare/measuring/sweet_spots.py). Before
// a run, it writes earlier results to a file in the folder in which nodes meet. Afterwards it reads the root's results
// from there.
//
// Both are text, a line for each tree and size of profiles:
//   ranks nodes events is_bound boi_ns boi_spread_ns rest_ns rest_deviation_ns direct_ns
// What is not known is negative.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "format/sweet_spot.h"

namespace tare::tared {

struct TreeSize {
  std::uint32_t ranks = 0;
  std::uint32_t nodes = 0;
  bool operator==(const TreeSize&) const = default;
};

// The lines for a tree of this size. Invalid lines are ignored.
std::vector<format::SweetSpot> read_known_spots(const std::string& directory, TreeSize tree);
// Adds a line. Errors are ignored.
void keep_found_spot(const std::string& directory, TreeSize tree, const format::SweetSpot& spot);

}  // namespace tare::tared

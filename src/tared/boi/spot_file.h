// The files by which results about monitoring trees get from one run to the next. `tare run` keeps the results
// (python/tare/measuring/sweet_spots.py). Before a run, it writes them to a file in the folder in which nodes meet.
// After the run, it reads the results of the root from another file there.
//
// Both are text files with a line for each tree and size of profiles:
//   ranks nodes events is_bound boi_ns boi_spread_ns rest_ns rest_deviation_ns direct_ns
// Values that are not known are negative.
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

// Reads the results for trees of this size. Invalid lines are ignored. Empty if there is no file.
std::vector<format::SweetSpot> read_known_spots(const std::string& directory, TreeSize tree);
// Appends a result. Errors are ignored.
void keep_found_spot(const std::string& directory, TreeSize tree, const format::SweetSpot& spot);

}  // namespace tare::tared

// What is known of monitoring trees between runs, as `tare run` keeps it (python/tare/measuring/sweet_spots.py): before
// the run it leaves in the folder where nodes meet what was found earlier; afterwards it takes from there what the
// root has found.
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

// Of a tree of this size. Lines that are none are left out.
std::vector<format::SweetSpot> read_known_spots(const std::string& directory, TreeSize tree);
// Adds a line; as good as it goes.
void keep_found_spot(const std::string& directory, TreeSize tree, const format::SweetSpot& spot);

}  // namespace tare::tared

// What the monitor of a run knows about its tree. tared passes it to the ranks of its node (recorder/node_words.h). The
// terms are those of Nataraj et al. (CLUSTER 2008); docs/monitoring-tree.md explains them.
#pragma once

#include <array>
#include <cstdint>

namespace tare::format {

// How a BOI was found: by a search in this run; by one in an earlier run, or by `tare sweetspot` on such a tree; or
// from two sizes below and above.
enum class SpotSource : std::uint32_t { unknown, measured, cached, interpolated };

// The values for profiles of one size. Times are nanoseconds; negative ones are not known.
struct SweetSpot {
  std::uint32_t events = 0;
  std::uint32_t is_bound = 0;  // 1: offload points were never closer together than `boi_ns`, which the tree sustains
  SpotSource source = SpotSource::unknown;
  std::uint32_t unused = 0;  // so that it has no gap
  double boi_ns = -1;
  double boi_spread_ns = -1;  // width of the range in which it lies
  double rest_ns = -1;        // the one-way delay at rest, and its standard deviation
  double rest_deviation_ns = -1;
  double delay_ns = -1;  // of the last rounds of this size
  double delay_deviation_ns = -1;
  double direct_ns = -1;  // the cost of an offload, if it was measured with profiles of this size
};

struct SweetSpots {
  static constexpr std::uint32_t most = 24;

  std::uint32_t count = 0;
  std::uint32_t events = 0;          // of the program's profiles now; 0: not known
  std::array<SweetSpot, most> of{};  // by their events, ascending
};

}  // namespace tare::format

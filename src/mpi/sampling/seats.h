// The seats of the ranks of a world. Rank 0 computes them from the node names that all ranks have sent, and sends each
// its seat.
#pragma once

#include <cstdint>

namespace tare::mpi::sampling {

// Levels of the tree in which clocks are compared (clocks.h): enough for a million nodes.
inline constexpr unsigned clock_levels = 20;

struct Seat {
  std::uint64_t node_file;  // unique name of the file that the ranks of the node share
  std::uint64_t world;      // a number that only this world of the run has; all of its ranks know it
  std::uint32_t nodes;      // in the world
  std::uint32_t number;     // of this node, in the order of their first ranks
  std::uint32_t size;       // ranks of this node that take part; 0: this rank does not
  std::uint32_t place;      // of this rank among them, in the order of ranks
  std::int32_t first;       // the first of them, as rank in the world
  std::int32_t all_take_part;
  // For the first rank of a node: the first ranks of the nodes whose numbers differ by 2 to the power of the index, as
  // far as ClockComparison needs them; else -1.
  std::int32_t others[clock_levels];
};

// `node_of` has the name of each rank's node; 0: the rank does not take part. False if there is no memory.
bool assign_seats(const std::uint64_t* node_of, std::uint32_t ranks, std::uint64_t world, Seat* seats) noexcept;

}  // namespace tare::mpi::sampling

// Where the ranks of a world sit: what its first rank works out from what each has told of its node, and tells each.
#pragma once

#include <cstdint>

namespace tare::mpi::sampling {

// Levels of the tree in which clocks are compared (clocks.h): a million nodes.
inline constexpr unsigned clock_levels = 20;

struct Seat {
  std::uint64_t node_file;  // name of the file that the ranks of the node share; of no other node of the run
  std::uint64_t world;      // a number that all of its ranks know it by, and no other world of the run
  std::uint32_t nodes;      // of the world
  std::uint32_t number;     // of this one, in the order of their first ranks
  std::uint32_t size;       // ranks on this node that take part; 0: this rank does not
  std::uint32_t place;      // of this one among them, in the order of ranks
  std::int32_t first;       // rank in the world of the first of them
  std::int32_t all_take_part;
  // Of the first rank of a node: the first ranks of those nodes whose numbers differ by 2 to the power of the index,
  // as far as ClockComparison asks for them; else -1.
  std::int32_t others[clock_levels];
};

// `node_of` has the name of the node of each rank; 0: it does not take part. False if there is no memory.
bool assign_seats(const std::uint64_t* node_of, std::uint32_t ranks, std::uint64_t world, Seat* seats) noexcept;

}  // namespace tare::mpi::sampling

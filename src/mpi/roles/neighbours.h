// The neighbours of a process in the topology of its communicator (MPI 5.0, section 8.6).
#pragma once

#include <bit>
#include <cstdint>

#include "mpi/roles/envelope.h"

namespace tare::mpi {

struct Neighbours {
  int in = 0;   // processes that it receives from
  int out = 0;  // processes that it sends to
  // Neighbours beyond the edge of a grid, which are MPI_PROC_NULL: one bit each, for both ends of every dimension in
  // turn.
  std::uint64_t absent = 0;

  int present(int degree) const noexcept { return degree - std::popcount(absent); }
  template <class BytesOf>
  std::uint64_t sum(int degree, const BytesOf& bytes_of) const noexcept {
    std::uint64_t bytes = 0;
    for (int i = 0; i < degree; ++i)
      if (i >= 64 || (absent >> i & 1U) == 0) bytes += bytes_of(i);
    return bytes;
  }
};

inline constexpr int max_dimensions = 32;

// The neighbours of a process at `coords` of a grid.
inline std::uint64_t beyond_the_edge(int dimensions, const int* dims, const int* periods, const int* coords) noexcept {
  std::uint64_t absent = 0;
  for (int i = 0; i < dimensions; ++i) {
    if (periods[i] != 0) continue;
    if (coords[i] == 0) absent |= std::uint64_t{1} << (2 * i);
    if (coords[i] == dims[i] - 1) absent |= std::uint64_t{2} << (2 * i);
  }
  return absent;
}

template <class A>
[[gnu::noinline]] Neighbours neighbours_of(Thread& thread, std::uint64_t handle) noexcept {
  using Comm = typename A::Comm;
  Comm comm{};
  static_assert(sizeof comm <= sizeof handle);
  __builtin_memcpy(&comm, &handle, sizeof comm);
  const int rank = known_communicator(thread, handle).rank;
  int topology = A::undefined;
  library<int(Comm, int*)>(Function::MPI_Topo_test)(comm, &topology);
  Neighbours found;
  if (topology == A::cart) {
    int dimensions = 0;
    library<int(Comm, int*)>(Function::MPI_Cartdim_get)(comm, &dimensions);
    found.in = found.out = 2 * dimensions;
    int dims[max_dimensions], periods[max_dimensions], coords[max_dimensions];
    if (dimensions <= max_dimensions && library<int(Comm, int, int*, int*, int*)>(Function::MPI_Cart_get)(
                                            comm, dimensions, dims, periods, coords) == A::success)
      found.absent = beyond_the_edge(dimensions, dims, periods, coords);
  } else if (topology == A::graph) {
    library<int(Comm, int, int*)>(Function::MPI_Graph_neighbors_count)(comm, rank, &found.out);
    found.in = found.out;
  } else if (topology == A::dist_graph) {
    int weighted = 0;
    library<int(Comm, int*, int*, int*)>(Function::MPI_Dist_graph_neighbors_count)(comm, &found.in, &found.out,
                                                                                   &weighted);
  }
  return found;
}

}  // namespace tare::mpi

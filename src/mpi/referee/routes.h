// Where calls go: to the MPI library, or to one of the tools that are weighed.
#pragma once

#include <cstdint>

#include "mpi/interposition/function_tables.h"
#include "mpi/referee/spell_file.h"

namespace tare::mpi::referee {

struct Functions {
  void* plain[format::mpi_function_count + 1];      // what MPI_X leads to
  void* profiling[format::mpi_function_count + 1];  // what PMPI_X leads to
  void* fortran[format::mpi_function_count + 1];    // what mpi_x_ leads to; nullptr: it is not known, or is no function
};

enum Seen : std::uint8_t { nothing = 0, plain = 1, profiling = 2 };

class Routes {
 public:
  Functions to[max_tools + 1];  // [0]: the MPI library
  Functions asking;             // what the slots lead to at first: the router
  bool asks[format::mpi_function_count + 1];
  // By which names the program itself has called a function (Seen).
  std::uint8_t seen[format::mpi_function_count + 1];

  // Leads the calls whose tool the spell decides to a tool; 0: to the MPI library itself.
  void use(unsigned route) noexcept;
  void set_profiling(unsigned number, unsigned route) noexcept;
};
[[gnu::visibility("hidden")]] extern constinit Routes routes;

// Communicators, as the MPI library knows them.
class World {
 public:
  void begin(std::uint64_t world, unsigned handle_bytes) noexcept;
  bool has_as_many_ranks(std::uint64_t communicator) const noexcept;
  // Asks for the rank, and the number of ranks.
  void describe(SpellFileHeader& header) const noexcept;

 private:
  std::uint64_t world_ = 0;
  std::uint64_t mask_ = 0;  // of the bits of a handle in a register
};
[[gnu::visibility("hidden")]] extern constinit World world;

}  // namespace tare::mpi::referee

// Another tool of MPI's profiling interface, between this library and the MPI library.
//
// Without this library, a call of MPI_X reaches the tool, and a call of PMPI_X reaches the MPI library. The program
// makes both: Open MPI's functions for Fortran call PMPI_X. The tool makes the second, and it comes to this library,
// too. So for each function of the tool, the two names lead to different places below this library. But a wrapper
// serves both names, and calls one function. Therefore
// - the stub of PMPI_X jumps to an entry that notes the name and jumps on to the wrapper,
// - what the wrapper calls (below_table) is an entry that jumps to the MPI library if that is noted, and to the tool if
//   not.
// The entries are in tool_<processor>.S. Functions that no tool has pass through none.
//
// So a call of PMPI_X never reaches the tool, and cannot come back. A tool whose MPI_X leads to MPI_X again would not
// end without this library, either. It is given the MPI library's function after a while (runs_away).
#pragma once

#include <cstdint>

#include "mpi/interposition/function_tables.h"

extern "C" {
// By the number of the function. The tool's function; nullptr: there is none.
[[gnu::visibility("hidden")]] extern void* tare_tools[tare::format::mpi_function_count + 1];
// The wrappers of such functions.
[[gnu::visibility("hidden")]] extern void* tare_profiling_wrappers[tare::format::mpi_function_count + 1];
// The entries: before the wrapper, and before the tool.
[[gnu::visibility("hidden")]] extern void* const tare_profiling_entries[];
[[gnu::visibility("hidden")]] extern void* const tare_tool_entries[];
}

namespace tare::mpi {

inline bool has_tool(unsigned number) noexcept { return tare_tools[number] != nullptr; }

// What a call of MPI_X (or PMPI_X) reaches below this library that is made inside another one.
template <class Signature>
Signature* next(Function function, bool profiling) noexcept {
  const auto number = static_cast<unsigned>(function);
  void* const tool = profiling ? tare_library[number] : tare_tools[number];
  return tool == nullptr ? below<Signature>(function) : reinterpret_cast<Signature*>(tool);
}

// Whether calls of MPI_X (or PMPI_X), given by its number, reach the address.
bool is_dispatched_to(unsigned number, bool profiling, const void* address) noexcept;

// Whether a tool's function is called by the tool's functions again and again, within one call of the program. `stack`:
// the stack pointer of the frame that calls. `by_jump`: the tool's function has left the stack before. Says so once.
bool runs_away(unsigned number, std::uintptr_t stack, bool by_jump) noexcept;

}  // namespace tare::mpi

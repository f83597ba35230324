// Dispatch: which function a call of MPI_X goes to.
//
// The library exports MPI_X and PMPI_X for every function X (stubs_<processor>.S). A stub jumps, without
// touching an argument, to
//   tare_slots[X] or tare_profiling_slots[X]  outside MPI: the wrapper for the ABI of the loaded library
//   tare_next[X] or tare_profiling_next[X]    inside MPI (inside.h): the call is part of another one
// `next` is what the program would have called without tare: for MPI_X, that of another tool (tool.h), or the
// library's; for PMPI_X, the library's. For the few functions that free a handle, a wrapper comes before it that only
// forgets the handle.
#pragma once

#include <cstdint>

#include "format/process_record.h"
#include "mpi/interposition/function_tables.h"
#include "mpi/interposition/library.h"

namespace tare::mpi {

// Wrapper tables by ABI, indexed by function number; nullptr: this build only forwards (libtare-forward.so).
struct NestedWrapper {
  Function function;
  void* wrapper;            // reached by MPI_X
  void* profiling_wrapper;  // reached by PMPI_X
};
struct SampledWrapper {
  Function function;
  void* wrapper;
};
struct Tables {
  void* const* timed;                // measures every function
  void* const* counted;              // the same, but look-up functions are counted, not timed
  void* const* counted_around_tool;  // the same for the functions of another tool
  bool (*bind)(void* (*lookup)(const char* symbol, void* context) noexcept, void* context) noexcept;
  const NestedWrapper* nested;                            // ends with Function::none
  const SampledWrapper* sampled;                          // replaces those above if messages are sampled; ends likewise
  void (*attached)(std::uint64_t attach_ticks) noexcept;  // called when the tables are filled
};
const Tables* tables_for(format::Abi abi) noexcept;

// How libtare-referee.so decides where calls go (mpi/referee); nullptr in other libraries.
struct Router {
  // Fills the slots. Those that it leaves as they are ask it again at each call. `lookup` finds MPI's variables.
  void (*fill)(const Library& library, void* (*lookup)(const char* symbol, void* library) noexcept) noexcept;
  // Where a call goes. `entry` and `caller`: as for tare_resolve; `stack`: the stack pointer of the frame that calls
  // (processor/arguments.h).
  void* (*destination)(unsigned entry, const void* caller, std::uintptr_t stack) noexcept;
};
extern const Router* const router;

// Finds out where calls go, unless that is known. `caller` and `asked` as for find_library() (library.h).
void attach_once(const void* caller, const void* asked) noexcept;
bool is_attached() noexcept;

// Whether there is a run to record to; otherwise all calls are only forwarded.
bool recording() noexcept;

// Whether the user asked for messages to be sampled, with a valid spec (format/sample_spec.h).
bool sampling_asked() noexcept;
inline constexpr std::uint32_t sample_classes = 2048;  // of a process; further ones share one class

// Whether the user asked for look-up functions to be timed.
bool lookups_timed() noexcept;

}  // namespace tare::mpi

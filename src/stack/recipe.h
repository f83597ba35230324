// How to find the caller of a frame, by its return address, from the unwind tables that compilers emit (.eh_frame).
//
// A recipe does not change while the code stays loaded. So it is computed once and remembered (recipe_of), as in
// HPCToolkit, and a step up the stack is a table look-up and two loads. Supports what optimising compilers emit for
// ordinary functions: frame addresses relative to the stack or the frame pointer, and stacks realigned for vectors.
#pragma once

#include <cstdint>

namespace tare::stack {

// How to get from a frame to its caller. The canonical frame address (CFA) of a function is the value of its caller's
// stack pointer at the call.
struct Recipe {
  enum Flags : std::uint8_t {
    usable = 1,
    outermost = 2,      // no function has called this one
    from_base = 4,      // CFA = frame pointer + cfa_offset; else stack pointer + cfa_offset
    loaded = 8,         // the CFA is not that sum but is stored at that address
    base_saved = 16,    // the caller's frame pointer is stored at CFA + base_offset; else it is unchanged
    base_at_base = 32,  // not there, but at this function's frame pointer + base_offset
    // The return address is still in the register in which the caller has left it (on processors that have one). Only
    // the innermost frame can be walked then (whole_stack.h).
    return_in_link = 64,
  };
  // The kind of object that contains the return address.
  enum Place : std::uint8_t {
    elsewhere,
    program,         // the executable
    system,          // the C library
    interpreter,     // a Python interpreter
    native_binding,  // an MPI binding for Fortran or C++, or an OpenMP runtime: their frames are left out of paths
    python_binding,  // mpi4py
  };
  std::int32_t cfa_offset;
  std::int32_t return_offset;  // the return address is stored at CFA + this
  std::int32_t base_offset;
  std::uint8_t flags;
  Place place;
};

// Computes it from the unwind tables, without allocating. Not usable if there are no tables, or they use something
// else.
Recipe work_out(std::uintptr_t return_address) noexcept;

// The same, remembered. Lock-free, unless the address is new.
Recipe recipe_of(std::uintptr_t return_address) noexcept;

// For a forked child.
void release_recipes() noexcept;

}  // namespace tare::stack

// What a return address means for the frame above it, from the unwind tables that compilers emit (.eh_frame).
//
// It never changes while the code stays loaded, so it is worked out once and remembered (recipe_of), as in HPCToolkit:
// a step up the stack is then a table look-up and two loads. Handles what optimising compilers emit for ordinary
// functions: a frame's address relative to the stack or the frame pointer, and stacks realigned for vectors.
#pragma once

#include <cstdint>

namespace tare::mpi {

// How to get from a frame to its caller. The canonical frame address (CFA) of a function is the stack pointer of its
// caller at the call.
struct Recipe {
  enum Flags : std::uint8_t {
    usable = 1,
    outermost = 2,      // no function has called this one
    from_base = 4,      // CFA = frame pointer + cfa_offset; else stack pointer + cfa_offset
    loaded = 8,         // no: that is where the CFA is stored
    base_saved = 16,    // the caller's frame pointer is stored at CFA + base_offset; else it is unchanged
    base_at_base = 32,  // no: at this function's frame pointer + base_offset
  };
  // Where the return address lies.
  enum Place : std::uint8_t {
    elsewhere,
    program,         // the executable
    system,          // the C library
    interpreter,     // of Python
    native_binding,  // of MPI, to Fortran or C++: no frame of a call path
    python_binding,  // mpi4py
  };
  std::int32_t cfa_offset;
  std::int32_t return_offset;  // the return address is stored at CFA + this
  std::int32_t base_offset;
  std::uint8_t flags;
  Place place;
};

// From the unwind tables, without memory. Not usable if there are none, or none of the kinds above.
Recipe work_out(std::uintptr_t return_address) noexcept;

// The same, remembered. Lock-free, unless the address is new.
Recipe recipe_of(std::uintptr_t return_address) noexcept;

// In a forked child.
void release_recipes() noexcept;

}  // namespace tare::mpi

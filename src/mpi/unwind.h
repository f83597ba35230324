// One step up the stack, from the unwind tables that compilers emit (.eh_frame).
//
// What a return address means for the frame above it never changes, so it is worked out once, as a recipe,
// and remembered: a step is then a table look-up and two loads (as in HPCToolkit). Handles what optimising
// compilers emit for ordinary functions: the frame's address relative to the stack or the frame pointer.
#pragma once

#include <cstdint>

namespace tare::mpi {

// Registers in a frame, at the point of a call it has made.
struct Frame {
  std::uintptr_t return_address;  // where execution goes on in this frame
  std::uintptr_t stack;           // stack pointer there
  std::uintptr_t base;            // frame pointer register there
};

// The frame of the caller of a function, given that function's frame address (__builtin_frame_address(0)).
Frame caller_of(void* frame_address) noexcept;

// Moves `frame` to its caller. False, and nothing moved, if there are no usable unwind tables.
bool step(Frame& frame) noexcept;

}  // namespace tare::mpi

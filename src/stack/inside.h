// Whether a thread is inside a measured call of MPI or of another source: the rule for stubs, wrappers and recorder.
//
// Calls that MPI makes are part of the call that led to them, and are not measured. So the wrapper of a call keeps an
// object of this class on its stack, and tare_inside points to it. But not every call returns:
//
// An exception that leaves a callback, and a thread that ends inside MPI (pthread_cancel, pthread_exit), unwind the
// stack. The unwinder that is linked into this library is not the program's, so this library must not resume an
// unwinding. It is compiled without exceptions: its frames have no landing pads. The program's unwinder calls the
// personality routine of frames that measure (tare_left). That routine restores the state, and lets the unwinder go on.
//
// longjmp, setcontext, and an abandoned coroutine call nothing. The thread's next call, or the exit of the process,
// finds out whether the frame that tare_inside points into still exists (is_inside). The answer is certain in these
// cases:
// - The object, which contains its own address, was overwritten, or its memory unmapped: the frame is gone.
// - The next call is made further up on the thread's own stack, or, on any stack, no further below the object than a
// call of MPI needs: the frame is gone.
// - The next call is made further down on the same stack: a walk up (unwind.h) reaches either the wrapper's frame, or
// another frame that covers its place.
// A tool below this library whose MPI_X ends in a call of PMPI_X leaves the stack by a jump. The frame that makes the
// call is then the wrapper itself, so the measured call is still under way (tare_nested in dispatch.cpp).
//
// In all other cases the call counts as still under way: the next call is made on another stack, or far above the
// object on a stack that is not the thread's own, or frames in between have no unwind tables. A call that another
// coroutine makes meanwhile is part of it, because the thread is in both.
//
// A call that was left is recorded with what was known when it began. It ends when it was left; after a longjmp, when
// that was found out (ProcessRecord::left_calls).
#pragma once

#include <cstdint>

#include "recorder/inside.h"
#include "stack/unwind.h"

namespace tare::stack {

// Lives while a function calls MPI, or that of another source of events, for the program.
class Inside {
 public:
  [[gnu::always_inline]] Inside() noexcept : self_(reinterpret_cast<std::uintptr_t>(this)) {
    // Sets the personality routine of the function into which this is inlined. (0x1b: 4 bytes, PC-relative.)
    __asm__ volatile(".cfi_personality 0x1b, tare_left");
    tare_inside = self_;
  }
  [[gnu::always_inline]] ~Inside() { tare_inside = 0; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  const std::uintptr_t self_;
};

// Whether this thread is in a call. `caller`: the frame that asks. If the call was left, the state is corrected, and
// the thread is in none.
bool is_inside(const Frame& caller) noexcept;

// The call that this thread is in, if any, will not return. Corrects the state.
void leave() noexcept;

}  // namespace tare::stack

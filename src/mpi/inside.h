// Whether a thread is in a call of MPI that is being measured: the rule, for the stubs, the wrappers and the recorder.
//
// What MPI calls in turn is part of that call and goes straight on. So the wrapper of a call keeps an object of this
// class on its stack, and tare_inside says where. Not every call returns, though:
//
// An exception that leaves a callback, and a thread that ends inside MPI (pthread_cancel, pthread_exit), unwind the
// stack. Nothing in this library may take part in that but by going on: the unwinder that is linked into it is not the
// program's. So all of it is compiled without exceptions: its frames have no landing pads, and nothing resumes an
// unwinding. What has to be put right is done by the personality routine of the frames that measure (tare_left),
// which the program's unwinder calls on its way, and which has it go on.
//
// longjmp, setcontext, or a coroutine that is given up, tell nobody. The thread's next call finds out whether the frame
// that tare_inside points into is still there; so does the exit of the process (is_inside). That is certain
//   - where the object, which holds its own address, has been overwritten, or its memory unmapped: the frame is gone;
//   - where the next call is made further up the thread's own stack, or, on whatever stack, no further up than a call
//     needs of the stack: gone;
//   - where it is made further down the same stack: a walk up (unwind.h) comes to the wrapper's frame, or to another
//     that lies in its place.
// Where nothing of this is so (the call is made on another stack than the object lies on, or far above it on one that
// is not the thread's own; frames on the way have no unwind tables), the noted call is taken to go on. A call that
// another coroutine makes meanwhile is part of it: the thread is in both.
//
// A call that was left is a call: it is recorded with what was known of it when it began, up to the time at which it
// was left, or, after a longjmp, at which that was found out (ProcessRecord::left_calls).
#pragma once

#include <cstdint>

#include "format/functions.h"
#include "mpi/unwind.h"

extern "C" {
// The Inside of the call that this thread is in; 0: none, not_to_be_left: tare's own.
[[gnu::visibility("hidden")]] extern constinit thread_local std::uintptr_t tare_inside
    [[gnu::tls_model("initial-exec")]];
}

namespace tare::mpi {

inline constexpr std::uintptr_t not_to_be_left = UINTPTR_MAX;

// For the duration of a call, in a function that calls MPI for the program.
class Inside {
 public:
  [[gnu::always_inline]] Inside() noexcept : self_(reinterpret_cast<std::uintptr_t>(this)) {
    // Of the function that this is inlined into. (0x1b: 4 bytes, relative to where they stand.)
    __asm__ volatile(".cfi_personality 0x1b, tare_left");
    tare_inside = self_;
  }
  [[gnu::always_inline]] ~Inside() { tare_inside = 0; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  const std::uintptr_t self_;
};

// Whether this thread is in a call; `caller`: the frame that asks. If the call that it was in has been left, that is
// put right, and it is in none.
bool is_inside(const Frame& caller) noexcept;

// A call begins that is: in a callback, or of MPI's own.
void begins_inside(format::Function function) noexcept;

// The call that this thread is in, if there is one, will not return: puts that right.
void leave() noexcept;

}  // namespace tare::mpi

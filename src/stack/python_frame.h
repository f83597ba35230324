// Where the running thread is in Python code, read without the GIL.
//
// mpi4py releases the GIL around MPI calls, so functions of the interpreter cannot be called. But the executing frames
// and their code objects belong to this thread until the call returns, so they are read in place. Their layout is
// private to a version of CPython. It is known here for 3.11 to 3.14, if they have the GIL. Under any other version, or
// without an interpreter, calls keep the native call site.
//
// A signal may interrupt the interpreter between two stores that belong together: until 3.12, its state names a frame
// record of the C stack before that is written, and until 3.11, a frame whose code may have been freed. So in a signal
// handler (loader_may_be_busy), only memory is read that is there, a frame counts only if it executes an object that is
// code, and only if it leads to the frame that has called it. Else the stack has no frames of Python.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "stack/call_path.h"

namespace tare::stack {

struct PythonFrame {
  const void* frame;
  std::uint64_t position;  // address of the instruction in the code object, with the top bit set, which no code has
};

// Looks whether the process has an interpreter by now. What follows does so once, but not in a signal handler. Calls
// the loader: hold no lock.
void look_for_python() noexcept;

// The innermost frames of this thread, innermost first. Returns their number; 0 if they cannot be read.
unsigned python_stack(std::span<PythonFrame> out) noexcept;

// The path of a call made in stack[0], by the rules of walk(). `chosen[i]` is the index in `stack` of frame i of the
// path.
CallPath choose_python_frames(const PythonFrame* stack, unsigned depth,
                              unsigned (&chosen)[format::max_frames]) noexcept;

// The source of a frame of this thread.
struct PythonSource {
  const char* file;  // UTF-8, not zero-terminated; valid until the call returns, as long as the room is there
  std::size_t file_bytes;
  const char* function;
  std::size_t function_bytes;
  std::uint32_t line;
};
// Where what is not ASCII becomes UTF-8. Longer text is cut: this may lie on the stack of a signal handler.
struct TextRoom {
  char file[1024];
  char function[512];
};
PythonSource source_of(const PythonFrame& frame, TextRoom& room) noexcept;

// Whether code is the user's own, judged by its file: neither standard library nor installed package.
bool in_program(const PythonSource& source) noexcept;

}  // namespace tare::stack

// The position of the running thread in Python code, read without the GIL.
//
// mpi4py releases the GIL around MPI calls, so the interpreter's functions cannot be asked. But the frame
// that is executing, and its code object, belong to this thread until the call returns: they are read in
// place. Their layout is private to a version of CPython; it is known here for 3.11. Under any other version,
// or without an interpreter, calls keep the native call site.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tare::mpi {

// Stands for the position: the address of the instruction in the code object, with the top bit set, which no
// code address has. 0 if there is no position to be had.
std::uint64_t python_position() noexcept;

inline bool is_python_position(std::uint64_t address) noexcept { return (address >> 63) != 0; }

// The source of the position that this thread is at.
struct PythonSource {
  const char* file;  // UTF-8, not zero-terminated; valid until the call returns
  std::size_t file_bytes;
  const char* function;
  std::size_t function_bytes;
  std::uint32_t line;
};
bool python_source(PythonSource& out) noexcept;

}  // namespace tare::mpi

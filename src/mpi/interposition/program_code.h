// The program's own code, as far as it is known: its executable, and the object that made the first call of MPI, which
// may be a language binding. A call that begins there inside another one is made by a callback (left_call.h). Calls
// inside others that come from elsewhere may be made by MPI, by its components, or by another tool.
#pragma once

#include <cstdint>

namespace tare::mpi {

// `caller` makes the first call of MPI. To be called when the tables of functions are filled. Calls the loader.
void note_program(const void* caller) noexcept;

bool is_of_program(std::uintptr_t address) noexcept;

}  // namespace tare::mpi

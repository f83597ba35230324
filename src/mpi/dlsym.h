// dlsym, which this library exports before the C library's.
//
// A program that asks dlsym for MPI_Send gets what it would get without tare, or the stub of MPI_Send
// (stubs_<processor>.S), if a call of that stub would go on to just this function: so it is measured. A name that
// nobody has is not found, this library's names are never found by it, and what leads elsewhere (into a tool above this
// library, a second MPI library) is handed out as it is. All other names, and all answers that are not replaced, are
// left to the C library's dlsym, by a jump: what RTLD_NEXT and RTLD_DEFAULT mean depends on who has called it.
//
// Asking does not say that MPI will be used: programs look which MPI is loaded, and load another one. So as long as
// this library has not been called itself, and the function is in no library of the program's search order, what is
// handed out is a stub of another kind ("asked"). Its first call makes its library the one that is measured, unless
// there is one by then: then it goes to its own library, past tare. Functions that tell an MPI from another, and may be
// called before MPI_Init, do not make that decision. Of a fifth library that is asked, nothing is replaced.
#pragma once

#include <cstdint>

namespace tare::mpi {

// The dlsym below this library. RTLD_NEXT is what comes behind this library.
void* real_dlsym(void* handle, const char* name) noexcept;

// Whether the address is that of this library's stub of MPI_X or PMPI_X.
bool is_stub(unsigned function, std::uintptr_t address) noexcept;

// Once the tables are filled: what was handed out before leads to its end.
void settle_asked() noexcept;

// The first MPI function that was handed out as it is, because its calls cannot be seen; nullptr if there is none.
const void* passed_on() noexcept;

}  // namespace tare::mpi

// dlsym, which this library exports ahead of the C library's.
//
// A program that calls dlsym for MPI_Send gets the answer that it would get without tare. If that is the function which
// a call of tare's stub (stubs_<processor>.S) would reach, it gets the stub instead, so the calls are measured. A name
// that no library has is not found, and this library's names are never found by it. Functions elsewhere (in a tool
// above this library, in a second MPI library) are returned as they are. All other names, and all answers that are not
// replaced, are left to the C library's dlsym by a jump, because RTLD_NEXT and RTLD_DEFAULT depend on the caller.
//
// A call of dlsym does not mean that MPI will be used: some programs look which MPI is loaded, and then load another
// one. So a stub of another kind ("asked") is returned if this library has not been called itself and the function is
// in no library of the program's search order. The first call of an asked stub makes its library the one that is
// measured. If there is one already, the call goes to its own library without tare. Functions that identify an MPI, and
// may be called before MPI_Init, do not make that decision. From a fifth library on, nothing is replaced.
#pragma once

#include <cstdint>

namespace tare::mpi {

// The dlsym below this library. RTLD_NEXT means what comes after this library.
void* real_dlsym(void* handle, const char* name) noexcept;

// Whether the address is that of this library's stub of MPI_X or PMPI_X.
bool is_stub(unsigned function, std::uintptr_t address) noexcept;

// To be called when the tables are filled: decides where the asked stubs lead that were returned before.
void settle_asked() noexcept;

// The first MPI function that was returned as it is, so that its calls are not seen; nullptr if there is none.
const void* passed_on() noexcept;

}  // namespace tare::mpi

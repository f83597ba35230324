// The stubs of MPI functions, as addresses that the program gets from dlsym (dlsym.h).
//
// A call of dlsym does not mean that MPI will be used: some programs look which MPI is loaded, and then load another
// one. So a stub of another kind ("asked") is returned if this library has not been called itself and the function is
// in no library of the program's search order. The first call of an asked stub makes its library the one that is
// measured. If there is one already, the call goes to its own library without tare. Functions that identify an MPI, and
// may be called before MPI_Init, do not make that decision. From a fifth library on, nothing is replaced.
#pragma once

#include <cstdint>

namespace tare::mpi {

// The stub of an entry: of MPI_X at twice its number, of PMPI_X at that plus 1.
void* stub(unsigned entry) noexcept;

// Whether the address is that of this library's stub of MPI_X or PMPI_X.
bool is_stub(unsigned function, std::uintptr_t address) noexcept;

// The stub whose calls reach `address`; nullptr if there is none. If there are two, the one of this name.
void* stub_before(unsigned entry, const void* address) noexcept;

// An asked stub for a function of a library that is not in the search order, so that only its openers know it. nullptr
// if there is none.
void* ask(unsigned entry, void* address) noexcept;

// To be called when the tables are filled: decides where the asked stubs lead that were returned before.
void settle_asked() noexcept;

// The function for which an asked stub was returned, and where its calls go; nullptr: that is not decided.
void* asked_function(unsigned slot) noexcept;
void* asked_destination(unsigned slot) noexcept;

}  // namespace tare::mpi

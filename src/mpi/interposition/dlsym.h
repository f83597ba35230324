// dlsym, which this library exports ahead of the C library's.
//
// A program that calls dlsym for MPI_Send gets the answer that it would get without tare. If that is the function which
// a call of tare's stub (stubs_<processor>.S) would reach, it gets the stub instead, so the calls are measured. A name
// that no library has is not found, and this library's names are never found by it. Functions elsewhere (in a tool
// above this library, in a second MPI library) are returned as they are. All other names, and all answers that are not
// replaced, are left to the C library's dlsym by a jump, because RTLD_NEXT and RTLD_DEFAULT depend on the caller.
//
// A call of dlsym does not mean that MPI will be used (stubs.h).
#pragma once

namespace tare::mpi {

// The first MPI function that was returned as it is, so that its calls are not seen; nullptr if there is none.
const void* passed_on() noexcept;

}  // namespace tare::mpi

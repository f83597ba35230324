// The MPI library that calls go to, and what it is.
#pragma once

#include <cstdint>

#include "format/process_record.h"

namespace tare::mpi {

struct Library {
  void* handle;  // of the loader; nullptr: there is none
  const char* path;
  format::Abi abi;
};

// The library that a call made at `caller` would reach without tare. `asked`, if not null, is the address of an MPI
// function that the program got from dlsym and calls. Its library is taken if none is in the program's search order.
// Calls the loader: hold no lock.
Library find_library(const void* caller, const void* asked) noexcept;

// The MPI library that contains an address; {} if none does. Keeps it loaded.
Library library_of(const void* address) noexcept;

// Whether an MPI library contains the address.
bool is_of_library(const void* address) noexcept;

// This library's own object, as the loader knows it.
const void* own_object() noexcept;

}  // namespace tare::mpi

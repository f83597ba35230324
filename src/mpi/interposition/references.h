// References of loaded objects to MPI functions, and the addresses that the loader has bound them to.
#pragma once

#include <link.h>

#include <cstdint>

namespace tare::mpi {

struct Reference {
  const dl_phdr_info& object;
  unsigned function;  // the number of the function, for MPI_X or PMPI_X
  bool is_weak;
  std::uintptr_t place;  // the address of the word with the function's address, or with that of a stub in the object
};

// Visits references to names that their own object does not define. Calls the loader: hold no lock.
void visit_references(void (*visit)(const Reference& reference, void* context), void* context) noexcept;

// Whether the object is loaded around the address.
bool contains(const dl_phdr_info& object, std::uintptr_t address) noexcept;

}  // namespace tare::mpi

// The references of loaded objects to functions of MPI, and where the loader has bound them.
#pragma once

#include <link.h>

#include <cstdint>

namespace tare::mpi {

struct Reference {
  const dl_phdr_info& object;
  unsigned function;  // of MPI_X or PMPI_X, by its number
  bool is_weak;
  std::uintptr_t place;  // the address of the word that holds the function's address, or a stub of the object's own
};

// Visits the references to names that their objects do not define. Calls the loader: hold no lock.
void visit_references(void (*visit)(const Reference& reference, void* context), void* context) noexcept;

// Whether the object is loaded around the address.
bool contains(const dl_phdr_info& object, std::uintptr_t address) noexcept;

}  // namespace tare::mpi

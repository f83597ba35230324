#include "mpi/interposition/dispatch.h"

namespace tare::mpi {

const Router* const router = nullptr;

extern const Tables mpich_tables;
extern const Tables openmpi_tables;
extern const Tables standard_tables;

const Tables* tables_for(format::Abi abi) noexcept {
  switch (abi) {
    case format::Abi::mpich:
      return &mpich_tables;
    case format::Abi::openmpi:
      return &openmpi_tables;
    case format::Abi::standard:
      return &standard_tables;
    case format::Abi::none:
      break;
  }
  return nullptr;
}

}  // namespace tare::mpi

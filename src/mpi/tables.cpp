#include "mpi/dispatch.h"
#include "mpi/requests.h"
#include "mpi/site.h"
#include "mpi/thread.h"
#include "recorder/process.h"

namespace tare::mpi {

extern const Tables mpich_tables;
extern const Tables openmpi_tables;
extern const Tables standard_tables;

const Tables* tables_for(format::Abi abi) noexcept {
  switch (abi) {
    case format::Abi::mpich: return &mpich_tables;
    case format::Abi::openmpi: return &openmpi_tables;
    case format::Abi::standard: return &standard_tables;
    case format::Abi::none: break;
  }
  return nullptr;
}

namespace {

void in_forked_child() noexcept {
  forget_sites();
  requests.after_fork();
  tare_depth = 0;
}

}  // namespace
}  // namespace tare::mpi

tare::recorder::Options tare::recorder::default_options() noexcept {
  return {sizeof(tare::mpi::Thread), 2048, tare::mpi::site_of, tare::mpi::in_forked_child};
}

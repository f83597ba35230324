#include "mpi/abi/openmpi.h"
#include "mpi/calls/wrappers.h"

namespace tare::mpi {

extern const Tables openmpi_tables;
constinit const Tables openmpi_tables = {
    timed_table<abi::OpenMpi>, counted_table<abi::OpenMpi, false>, counted_table<abi::OpenMpi, true>,
    &abi::OpenMpi::bind,       nested_table<abi::OpenMpi>,         sampled_table<abi::OpenMpi>,
    &attached<abi::OpenMpi>};

}  // namespace tare::mpi

#include "mpi/abi/mpich.h"
#include "mpi/calls/wrappers.h"

namespace tare::mpi {

extern const Tables mpich_tables;
constinit const Tables mpich_tables = {
    timed_table<abi::Mpich>, counted_table<abi::Mpich, false>, counted_table<abi::Mpich, true>,
    &abi::Mpich::bind,       nested_table<abi::Mpich>,         sampled_table<abi::Mpich>,
    &attached<abi::Mpich>};

}  // namespace tare::mpi

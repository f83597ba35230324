#include "mpi/abi/standard.h"
#include "mpi/calls/wrappers.h"

namespace tare::mpi {

extern const Tables standard_tables;
constinit const Tables standard_tables = {
    timed_table<abi::Standard>, counted_table<abi::Standard, false>, counted_table<abi::Standard, true>,
    &abi::Standard::bind,       nested_table<abi::Standard>,         sampled_table<abi::Standard>,
    &attached<abi::Standard>};

}  // namespace tare::mpi

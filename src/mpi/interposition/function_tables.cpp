#include "mpi/interposition/function_tables.h"

extern "C" {
constinit void* tare_library[tare::format::mpi_function_count + 1] = {};
}

namespace tare::mpi {

constinit bool missing[format::mpi_function_count + 1] = {};
constinit void* below_table[format::mpi_function_count + 1] = {};

}  // namespace tare::mpi

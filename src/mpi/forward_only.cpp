// The do-nothing twin: the same dispatch, no wrappers. What it costs is what interposition alone costs.
#include "mpi/dispatch.h"

namespace tare::mpi {

const Tables* tables_for(format::Abi) noexcept { return nullptr; }

}  // namespace tare::mpi

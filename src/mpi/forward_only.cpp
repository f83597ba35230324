// The do-nothing twin: the same dispatch, no wrappers. What it costs is what interposition alone costs.
#include "mpi/dispatch.h"
#include "mpi/inside.h"

namespace tare::mpi {

const Tables* tables_for(format::Abi) noexcept { return nullptr; }

// Nothing is measured: what is asked comes from attaching.
bool is_inside(const Frame&) noexcept { return true; }
void begins_inside(format::Function) noexcept {}

}  // namespace tare::mpi

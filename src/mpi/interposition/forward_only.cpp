// libtare-forward.so: the same dispatch without wrappers. It shows the cost of interposition alone.
#include "mpi/interposition/dispatch.h"
#include "mpi/interposition/inside.h"

namespace tare::mpi {

const Tables* tables_for(format::Abi) noexcept { return nullptr; }

// Nothing is measured here. Only attaching calls these.
bool is_inside(const stack::Frame&) noexcept { return true; }
void begins_inside(format::Function) noexcept {}

}  // namespace tare::mpi

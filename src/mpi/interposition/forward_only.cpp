// libtare-forward.so: the same dispatch without wrappers. It shows the cost of interposition alone.
#include "mpi/calls/left_call.h"
#include "mpi/interposition/dispatch.h"
#include "stack/inside.h"

// Nothing is measured here. Only attaching calls these.
bool tare::stack::is_inside(const Frame&) noexcept { return true; }

namespace tare::mpi {

const Router* const router = nullptr;

const Tables* tables_for(format::Abi) noexcept { return nullptr; }

void begins_inside(format::Function, bool) noexcept {}

}  // namespace tare::mpi

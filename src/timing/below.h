// Finds the function that a call would reach without this library: that of the next tool, or of MPI itself.
#pragma once

namespace tare::timing {

// The address of the function; nullptr if no loaded object has a symbol of that name. Calls the dynamic loader, so it
// must not be used during a measured call.
void* below(const char* name) noexcept;

}  // namespace tare::timing

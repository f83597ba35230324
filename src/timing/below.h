// What a name would have reached without this library: the next tool, or MPI itself.
#pragma once

namespace tare::timing {

// The address, or nullptr if nothing loaded has the name. Calls the loader: not for the path of a measured call.
void* below(const char* name) noexcept;

}  // namespace tare::timing

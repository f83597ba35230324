#pragma once

namespace tare::mpi {

// The dlsym below this library. RTLD_NEXT means what comes after this library.
void* real_dlsym(void* handle, const char* name) noexcept;

}  // namespace tare::mpi

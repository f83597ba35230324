#include "mpi/interposition/real_dlsym.h"

#include <dlfcn.h>

#include <initializer_list>

namespace {
using Dlsym = void*(void*, const char*);
}

extern "C" {
// Called by the stub of dlsym.
[[gnu::visibility("hidden")]] Dlsym tare_dlsym_first;
[[gnu::visibility("hidden")]] Dlsym* tare_find_dlsym() noexcept;
// Read by it.
[[gnu::visibility("hidden")]] constinit Dlsym* tare_dlsym_below = &tare_dlsym_first;
}

Dlsym* tare_find_dlsym() noexcept {
  // With versions, because another tool may export dlsym, too. Since glibc 2.34 it is in the C library itself.
  void* found = nullptr;
  for (const char* version : {"GLIBC_2.34", "GLIBC_2.17", "GLIBC_2.2.5"})
    if (found == nullptr) found = dlvsym(RTLD_NEXT, "dlsym", version);
  return tare_dlsym_below = reinterpret_cast<Dlsym*>(found);
}

namespace tare::mpi {

void* real_dlsym(void* handle, const char* name) noexcept { return tare_dlsym_below(handle, name); }

}  // namespace tare::mpi

// _exit and _Exit, which this library exports before the C library's: a process that calls them has not been killed.
#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "mpi/dlsym.h"
#include "recorder/process_end.h"

namespace {

using Exit = void(int);
constinit Exit* next = nullptr;

// Not at the call, which may be made in a signal handler, or by the child of vfork.
[[gnu::constructor]] void find_next() noexcept {
  next = reinterpret_cast<Exit*>(tare::mpi::real_dlsym(RTLD_NEXT, "_exit"));
}

[[noreturn]] void end(int status) noexcept {
  tare::recorder::note_exit(status);
  if (next != nullptr) next(status);
  for (;;) syscall(SYS_exit_group, status);
}

}  // namespace

extern "C" {
[[gnu::visibility("default"), noreturn]] void _exit(int status) { end(status); }
[[gnu::visibility("default"), noreturn]] void _Exit(int status) noexcept { end(status); }
}

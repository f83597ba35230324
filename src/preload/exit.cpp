// _exit and _Exit, which this library exports ahead of the C library's. A process that calls them was not killed.
#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "recorder/process_end.h"

namespace {

using Exit = void(int);
constinit Exit* next = nullptr;

// Not found at the call, which may be in a signal handler or in the child of vfork.
[[gnu::constructor]] void find_next() noexcept { next = reinterpret_cast<Exit*>(dlsym(RTLD_NEXT, "_exit")); }

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

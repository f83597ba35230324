// chroot, which this library exports ahead of the C library's: the files of the run stay within reach.
#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "recorder/kept_directories.h"
#include "recorder/process.h"

namespace {

using Chroot = int(const char*);
constinit Chroot* next = nullptr;

// Not found at the call, which may be in the child of vfork.
[[gnu::constructor]] void find_next() noexcept { next = reinterpret_cast<Chroot*>(dlsym(RTLD_NEXT, "chroot")); }

}  // namespace

extern "C" [[gnu::visibility("default")]] int chroot(const char* path) noexcept {
  tare::recorder::note_run_directories();
  const bool are_new = tare::recorder::keep_directories();
  const int result = next != nullptr ? next(path) : static_cast<int>(syscall(SYS_chroot, path));
  if (result != 0 && are_new) tare::recorder::release_directories();
  return result;
}

// The process shares the program's memory until exec, because network cards may hold pages that must not be copied. No
// handler of the program runs in it, and it is no child that wait() could find.
#include "recorder/start_beside.h"

#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "recorder/errno_guard.h"
#include "recorder/system.h"

// glibc's clone() by its other name. Preloaded runtimes replace clone(), take the child's memory for a copy, and forget
// all other threads (TSan) or the locks that they hold. But this memory is still the program's.
extern "C" int __clone(int (*function)(void*), void* stack, int flags, void* argument, ...) noexcept;

namespace tare::recorder {
namespace {

constexpr std::size_t stack_bytes = 32 * 1024;

struct Start {
  char* const* arguments;
  char* const* environment;
  char* stack;  // of the second process
};

// A runtime may also have replaced functions like _exit(), so the children call none of them.
[[noreturn]] __attribute__((no_sanitize("thread"))) void leave(int code) noexcept {
  for (;;) syscall(SYS_exit_group, code);
}

// Runs in the process that becomes the other program. It shares the memory of its parent until exec.
__attribute__((no_sanitize("thread"))) int become_it(void* start) noexcept {
  const auto* what = static_cast<const Start*>(start);
  syscall(SYS_execve, what->arguments[0], what->arguments, what->environment);
  leave(127);
}

// Runs in an intermediate process that ends at once. So the second process is not a child of the program.
__attribute__((no_sanitize("thread"))) int leave_a_child(void* start) noexcept {
  syscall(SYS_setsid);
  __clone(become_it, static_cast<Start*>(start)->stack + stack_bytes, CLONE_VM | CLONE_VFORK, start);
  leave(0);
}

}  // namespace

void start_beside(char* const* arguments, char* const* environment) noexcept {
  const ErrnoGuard guard;
  auto* stacks = static_cast<char*>(map_memory(2 * stack_bytes));
  if (stacks == nullptr) return;
  Start start{arguments, environment, stacks + stack_bytes};
  // No handler of the program may run in the children, because they share its memory.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  // Without a signal number in the flags, no wait() of the program finds the process.
  const int between = __clone(leave_a_child, stacks + stack_bytes, CLONE_VM | CLONE_VFORK, &start);
  if (between > 0) syscall(SYS_wait4, between, nullptr, __WALL, nullptr);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  unmap_memory(stacks, 2 * stack_bytes);
}

}  // namespace tare::recorder

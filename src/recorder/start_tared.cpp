// Starting a process from within a program that knows nothing of it: without a copy of its memory, of which network
// cards may hold pages, without handlers of its own that run in the child, and without a child that it could find.
#include "recorder/start_tared.h"

#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "recorder/node_words.h"
#include "recorder/system.h"

// glibc's clone() by its other name: what a preloaded runtime puts in place of clone() takes the child's memory for a
// copy and forgets there all threads but this one (TSan does), or locks that they hold. This memory is the program's.
extern "C" int __clone(int (*function)(void*), void* stack, int flags, void* argument, ...) noexcept;

namespace tare::recorder {
namespace {

constexpr std::size_t stack_bytes = 32 * 1024;

struct Start {
  char* const* arguments;
  char* const* environment;
  char* stack;  // for the second process
};

// Nor does anything else run in the children that a runtime may have replaced, such as _exit().
[[noreturn, gnu::no_sanitize("thread")]] void leave(int code) noexcept {
  for (;;) syscall(SYS_exit_group, code);
}

// In the process that becomes tared. Its parent's memory is this process's too, until exec.
[[gnu::no_sanitize("thread")]] int become_tared(void* start) noexcept {
  const auto* what = static_cast<const Start*>(start);
  syscall(SYS_execve, what->arguments[0], what->arguments, what->environment);
  leave(127);
}

// In a process between, which ends at once, so that the next is not a child of the program.
[[gnu::no_sanitize("thread")]] int leave_a_child(void* start) noexcept {
  syscall(SYS_setsid);
  __clone(become_tared, static_cast<Start*>(start)->stack + stack_bytes, CLONE_VM | CLONE_VFORK, start);
  leave(0);
}

}  // namespace

void start_tared(const TaredArguments& given) noexcept {
  if (node_words->started.exchange(1, std::memory_order_acq_rel) != 0) return;
  const ErrnoGuard guard;
  auto* stacks = static_cast<char*>(map_memory(2 * stack_bytes));
  if (stacks == nullptr) return;
  char starter[16];
  std::snprintf(starter, sizeof starter, "%d", static_cast<int>(getpid()));
  char* const arguments[] = {const_cast<char*>(given.program),
                             const_cast<char*>(given.run_dir),
                             const_cast<char*>(given.run_id),
                             const_cast<char*>(given.segment_dir),
                             starter,
                             const_cast<char*>(given.drains ? "drain" : "monitor"),
                             nullptr};
  // Of the program's environment it needs nothing else, least of all what is preloaded.
  char group[32];
  const char* number = getenv(group_variable);
  if (number != nullptr) std::snprintf(group, sizeof group, "%s=%.16s", group_variable, number);
  char monitor[1024];
  const char* spec = getenv(monitor_variable);
  if (spec != nullptr) std::snprintf(monitor, sizeof monitor, "%s=%s", monitor_variable, spec);
  char* environment[3] = {};
  char** next = environment;
  if (number != nullptr) *next++ = group;
  if (spec != nullptr) *next = monitor;
  Start start{arguments, environment, stacks + stack_bytes};
  // No handler of the program may run in the children, which share its memory.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  // No signal says that it has ended, so that no wait() of the program finds it.
  const int between = __clone(leave_a_child, stacks + stack_bytes, CLONE_VM | CLONE_VFORK, &start);
  if (between > 0) syscall(SYS_wait4, between, nullptr, __WALL, nullptr);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  unmap_memory(stacks, 2 * stack_bytes);
}

}  // namespace tare::recorder

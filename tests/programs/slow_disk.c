/* A library to preload: a file system that becomes slow. From the SLOW_DISK_AFTER-th write of at least 1 KiB on, each such
 * write of the process takes SLOW_DISK_MS longer. For what writes by syscall(2), as tare does. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>

typedef long (*syscall_function)(long, ...);

static long of_environment(const char* name) {
  const char* value = getenv(name);
  return value == NULL ? 0 : atol(value);
}

static void become_slow(void) {
  static long writes;
  if (__atomic_add_fetch(&writes, 1, __ATOMIC_RELAXED) < of_environment("SLOW_DISK_AFTER")) return;
  const long ms = of_environment("SLOW_DISK_MS");
  const struct timespec delay = {ms / 1000, ms % 1000 * 1000000};
  const int error = errno;
  nanosleep(&delay, NULL);
  errno = error;
}

long syscall(long number, ...) {
  long of[6];
  va_list list;
  va_start(list, number);
  for (int i = 0; i < 6; ++i) of[i] = va_arg(list, long);
  va_end(list);
  static syscall_function next;
  if (next == NULL) next = (syscall_function)dlsym(RTLD_NEXT, "syscall");
  if (number == SYS_write && of[2] >= 1024) become_slow();
  return next(number, of[0], of[1], of[2], of[3], of[4], of[5]);
}

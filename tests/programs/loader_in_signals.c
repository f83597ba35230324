/* Counts the calls of the loader, and of malloc, that are made in a handler of SIGURG, while code of a library runs that the program
 * has loaded itself: loader_in_signals LIBRARY MS. A handler may have interrupted the loader, whose list of objects is
 * then in no order. As the program exports these functions, calls of them come here before they go to the C library. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static volatile int in_handlers, elsewhere;

static void note(void) {
  sigset_t blocked;
  pthread_sigmask(SIG_BLOCK, NULL, &blocked);
  if (sigismember(&blocked, SIGURG))
    ++in_handlers;
  else
    ++elsewhere;
}

int dl_iterate_phdr(int (*function)(struct dl_phdr_info*, size_t, void*), void* data) {
  int (*next)(int (*)(struct dl_phdr_info*, size_t, void*), void*) = dlsym(RTLD_NEXT, "dl_iterate_phdr");
  note();
  return next(function, data);
}

int dladdr(const void* address, Dl_info* info) {
  int (*next)(const void*, Dl_info*) = dlsym(RTLD_NEXT, "dladdr");
  note();
  return next(address, info);
}

extern void *__libc_malloc(size_t bytes);
void *malloc(size_t bytes) {
  note();
  return __libc_malloc(bytes);
}

int main(int argc, char** argv) {
  void* library = dlopen(argv[1], RTLD_NOW);
  if (library == NULL) return 2;
  void (*compute)(int) = (void (*)(int))dlsym(library, "compute");
  compute(atoi(argv[argc - 1]));
  printf("%d %d\n", in_handlers, elsewhere);
}

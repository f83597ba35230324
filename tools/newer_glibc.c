// What GCC's libraries need of a C library newer than that of the wheel, 2.28. tools/wheel.sh links it into everything.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

#define NANOSECONDS 1000000000L

// 2.32: whether reference counts may do without atomic operations. They never may.
char __libc_single_threaded = 0;

// 2.36
uint32_t arc4random(void) {
  uint32_t number;
  ssize_t got;
  do got = getrandom(&number, sizeof number, 0);
  while (got < 0 && errno == EINTR);
  if (got != sizeof number) abort();  // as the C library does
  return number;
}

// 2.30. Whoever calls it looks at the clock again after the time.
int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const struct timespec* until) {
  struct timespec now;
  struct timespec end;
  clock_gettime(clock, &now);
  clock_gettime(CLOCK_REALTIME, &end);
  end.tv_sec += until->tv_sec - now.tv_sec;
  end.tv_nsec += until->tv_nsec - now.tv_nsec;
  if (end.tv_nsec < 0) {
    end.tv_nsec += NANOSECONDS;
    --end.tv_sec;
  } else if (end.tv_nsec >= NANOSECONDS) {
    end.tv_nsec -= NANOSECONDS;
    ++end.tv_sec;
  }
  return pthread_cond_timedwait(condition, mutex, &end);
}

// 2.35: the object in which an address lies, and its unwind tables, for exceptions.
struct search {
  uintptr_t address;
  struct dl_find_object* found;
};

static int look_in(struct dl_phdr_info* object, size_t size, void* argument) {
  (void)size;
  struct search* search = argument;
  uintptr_t begin = UINTPTR_MAX;
  uintptr_t end = 0;
  uintptr_t tables = 0;
  int inside = 0;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)* segment = &object->dlpi_phdr[i];
    const uintptr_t from = object->dlpi_addr + segment->p_vaddr;
    const uintptr_t to = from + segment->p_memsz;
    if (segment->p_type == PT_GNU_EH_FRAME) tables = from;
    if (segment->p_type != PT_LOAD) continue;
    if (from < begin) begin = from;
    if (to > end) end = to;
    if (search->address >= from && search->address < to) inside = 1;
  }
  if (!inside) return 0;
  search->found->dlfo_map_start = (void*)begin;
  search->found->dlfo_map_end = (void*)end;
  search->found->dlfo_eh_frame = (void*)tables;
  return 1;
}

// That of the C library, where it is new enough: it takes no lock, so that signal handlers can ask it.
static int (*own)(void*, struct dl_find_object*);
__attribute__((constructor)) static void find_own(void) {
  own = (int (*)(void*, struct dl_find_object*))dlsym(RTLD_DEFAULT, "_dl_find_object");
}

// src/stack/modules.h
__attribute__((weak)) int tare_known_object(uintptr_t address, uintptr_t* begin, uintptr_t* end, uintptr_t* tables);

int _dl_find_object(void* address, struct dl_find_object* found) {
  if (own != NULL) return own(address, found);
  uintptr_t begin;
  uintptr_t end;
  uintptr_t tables;
  const int known = tare_known_object == NULL ? 0 : tare_known_object((uintptr_t)address, &begin, &end, &tables);
  if (known < 0) return -1;
  if (known > 0) {
    found->dlfo_map_start = (void*)begin;
    found->dlfo_map_end = (void*)end;
    found->dlfo_eh_frame = (void*)tables;
    return 0;
  }
  struct search search = {(uintptr_t)address, found};
  return dl_iterate_phdr(look_in, &search) == 1 && found->dlfo_eh_frame != NULL ? 0 : -1;
}

/* page_reads FILE ROUNDS: the shortest mean times of calls on a file in the page cache, over the rounds.
 *
 * Each function is called in turn as a program calls it, so that a tool sees it; past every tool, in the C library
 * itself; and so with a reading of the clock before and behind, which is the least that measures a call. All times are
 * of one process, with one file at one place in memory: two processes differ by more than a tool adds. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { page = 4096, pages = 4096 };
static char buffer[page];

typedef struct {
  ssize_t (*read)(int, void*, size_t);
  ssize_t (*pread)(int, void*, size_t, off_t);
  size_t (*fread)(void*, size_t, size_t, FILE*);
  int (*fgetc)(FILE*);
} Functions;

/* Shortest mean times, in ns. */
typedef struct {
  double read, pread, fread, fgetc;
} Times;

static double now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}

static void keep_shortest(double* shortest, double ns, int calls) {
  if (*shortest == 0 || ns / calls < *shortest) *shortest = ns / calls;
}

static void measure(const Functions* functions, int file, FILE* stream, Times* times) {
  if (lseek(file, 0, SEEK_SET) != 0 || fseek(stream, 0, SEEK_SET) != 0) exit(EXIT_FAILURE);
  double begin = now_ns();
  for (int i = 0; i < pages; i++)
    if (functions->read(file, buffer, page) != page) exit(EXIT_FAILURE);
  keep_shortest(&times->read, now_ns() - begin, pages);
  begin = now_ns();
  for (int i = 0; i < pages; i++)
    if (functions->pread(file, buffer, page, (off_t)page * i) != page) exit(EXIT_FAILURE);
  keep_shortest(&times->pread, now_ns() - begin, pages);
  begin = now_ns();
  for (int i = 0; i < pages; i++)
    if (functions->fread(buffer, page, 1, stream) != 1) exit(EXIT_FAILURE);
  keep_shortest(&times->fread, now_ns() - begin, pages);
  if (fseek(stream, 0, SEEK_SET) != 0) exit(EXIT_FAILURE);
  begin = now_ns();
  for (int i = 0; i < 16 * page; i++)
    if (functions->fgetc(stream) == EOF) exit(EXIT_FAILURE);
  keep_shortest(&times->fgetc, now_ns() - begin, 16 * page);
}

static uint64_t ticks(void) {
#ifdef __x86_64__
  return __builtin_ia32_rdtsc();
#else
  return (uint64_t)now_ns();
#endif
}

static Functions library;
static uint64_t measured;

#define CALLS(prefix, real, begin, end)                                         \
  static ssize_t prefix##_read(int file, void* to, size_t bytes) {              \
    begin ssize_t done = real read(file, to, bytes);                            \
    end return done;                                                            \
  }                                                                             \
  static ssize_t prefix##_pread(int file, void* to, size_t bytes, off_t at) {   \
    begin ssize_t done = real pread(file, to, bytes, at);                       \
    end return done;                                                            \
  }                                                                             \
  static size_t prefix##_fread(void* to, size_t size, size_t count, FILE* of) { \
    begin size_t done = real fread(to, size, count, of);                        \
    end return done;                                                            \
  }                                                                             \
  static int prefix##_fgetc(FILE* of) {                                         \
    begin int done = real fgetc(of);                                            \
    end return done;                                                            \
  }                                                                             \
  static const Functions prefix = {prefix##_read, prefix##_pread, prefix##_fread, prefix##_fgetc};

CALLS(called, , , )
CALLS(direct, library., , )
CALLS(clocked, library., const uint64_t began = ticks();, measured += ticks() - began;)

static void print(const char* way, const Times* times) {
  printf("{\"%sread_ns\": %.2f, \"%spread_ns\": %.2f, \"%sfread_ns\": %.2f, \"%sfgetc_ns\": %.3f}\n", way, times->read,
         way, times->pread, way, times->fread, way, times->fgetc);
}

int main(int argc, char** argv) {
  if (argc != 3) return EXIT_FAILURE;
  const int file = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
  for (int i = 0; i < pages; i++)
    if (write(file, buffer, page) != page) return EXIT_FAILURE;
  FILE* stream = fopen(argv[1], "r");
  void* handle = dlopen("libc.so.6", RTLD_NOW);
  if (stream == NULL || handle == NULL) return EXIT_FAILURE;
  *(void**)&library.read = dlsym(handle, "read");
  *(void**)&library.pread = dlsym(handle, "pread");
  *(void**)&library.fread = dlsym(handle, "fread");
  *(void**)&library.fgetc = dlsym(handle, "fgetc");
  const Functions* const ways[] = {&called, &direct, &clocked};
  Times times[3] = {{0}};
  for (int round = 0; round < atoi(argv[2]); round++)
    for (int i = 0; i < 3; i++) measure(ways[(round + i) % 3], file, stream, &times[(round + i) % 3]);
  print("", &times[0]);
  print("direct_", &times[1]);
  print("clocked_", &times[2]);
  return EXIT_SUCCESS;
}

/* page_reads FILE ROUNDS: the shortest mean times of calls on a file in the page cache, over the rounds. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { page = 4096, pages = 4096 };
static char buffer[page];

static double now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}

static void keep_shortest(double* shortest, double ns, int calls) {
  if (*shortest == 0 || ns / calls < *shortest) *shortest = ns / calls;
}

int main(int argc, char** argv) {
  if (argc != 3) return EXIT_FAILURE;
  const int file = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
  for (int i = 0; i < pages; i++)
    if (write(file, buffer, page) != page) return EXIT_FAILURE;
  FILE* stream = fopen(argv[1], "r");
  double reads = 0, preads = 0, freads = 0, characters = 0;
  for (int round = 0; round < atoi(argv[2]); round++) {
    if (lseek(file, 0, SEEK_SET) != 0 || fseek(stream, 0, SEEK_SET) != 0) return EXIT_FAILURE;
    double begin = now_ns();
    for (int i = 0; i < pages; i++)
      if (read(file, buffer, page) != page) return EXIT_FAILURE;
    keep_shortest(&reads, now_ns() - begin, pages);
    begin = now_ns();
    for (int i = 0; i < pages; i++)
      if (pread(file, buffer, page, (off_t)page * i) != page) return EXIT_FAILURE;
    keep_shortest(&preads, now_ns() - begin, pages);
    begin = now_ns();
    for (int i = 0; i < pages; i++)
      if (fread(buffer, page, 1, stream) != 1) return EXIT_FAILURE;
    keep_shortest(&freads, now_ns() - begin, pages);
    if (fseek(stream, 0, SEEK_SET) != 0) return EXIT_FAILURE;
    begin = now_ns();
    for (int i = 0; i < 16 * page; i++)
      if (fgetc(stream) == EOF) return EXIT_FAILURE;
    keep_shortest(&characters, now_ns() - begin, 16 * page);
  }
  printf("{\"read_ns\": %.2f, \"pread_ns\": %.2f, \"fread_ns\": %.2f, \"fgetc_ns\": %.3f}\n", reads, preads, freads,
         characters);
  return EXIT_SUCCESS;
}

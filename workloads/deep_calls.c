/* deep_calls: what one MPI call costs below so many frames of the program.
 *
 * A recursion as deep as asked for ends in a loop of MPI_Send to MPI_PROC_NULL, so that every call has the same call
 * path: the time beyond that of a path of one frame is what its frames cost.
 *
 * usage: deep_calls [-i ITERATIONS] [-r ROUNDS] [-d DEPTH]
 *   -i  calls in a round          (1000000)
 *   -r  rounds                    (7)
 *   -d  frames below main()       (40)
 *
 * Prints one line of JSON, the median over the rounds and the fastest round, in ns a call:
 *   {"iterations": 1000000, "rounds": 7, "depth": 40, "send_ns": 8.1, "send_min_ns": 8.0}
 * Exit code 2 on wrong usage.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_ROUNDS = 1000 };

static double now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

/* Nothing of these is made a jump or one function: each level is a frame. */
#define LEVEL __attribute__((noinline, noclone)) static
#define NOT_LAST __asm__ volatile("")

LEVEL void exchange(char* buffer) {
  MPI_Send(buffer, 8, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
  NOT_LAST;
}

LEVEL void loop(long iterations) {
  char buffer[8] = {0};
  for (long i = 0; i < iterations; i++) exchange(buffer);
}

LEVEL void descend(int levels, long iterations) {
  if (levels == 0)
    loop(iterations);
  else
    descend(levels - 1, iterations);
  NOT_LAST;
}

static int ascending(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static long number(const char* text, long least, long most) {
  char* end;
  const long value = text == NULL ? 0 : strtol(text, &end, 10);
  if (text == NULL || *end != '\0' || value < least || value > most) {
    fprintf(stderr, "usage: deep_calls [-i ITERATIONS] [-r ROUNDS] [-d DEPTH]\n");
    exit(2);
  }
  return value;
}

int main(int argc, char** argv) {
  long iterations = 1000000, rounds = 7, depth = 40;
  for (int i = 1; i < argc; i += 2) {
    if (strcmp(argv[i], "-i") == 0)
      iterations = number(argv[i + 1], 1, 1000000000);
    else if (strcmp(argv[i], "-r") == 0)
      rounds = number(argv[i + 1], 1, MAX_ROUNDS);
    else if (strcmp(argv[i], "-d") == 0)
      depth = number(argv[i + 1], 0, 10000);
    else
      number(NULL, 0, 0);
  }
  static double times[MAX_ROUNDS];
  MPI_Init(&argc, &argv);
  descend((int)depth, iterations / 10);
  for (long round = 0; round < rounds; round++) {
    const double start = now_ns();
    descend((int)depth, iterations);
    times[round] = (now_ns() - start) / (double)iterations;
  }
  qsort(times, (size_t)rounds, sizeof times[0], ascending);
  printf("{\"iterations\": %ld, \"rounds\": %ld, \"depth\": %ld, \"send_ns\": %.2f, \"send_min_ns\": %.2f}\n",
         iterations, rounds, depth, times[rounds / 2], times[0]);
  MPI_Finalize();
  return 0;
}

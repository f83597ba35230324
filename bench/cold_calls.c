/* cold_calls: calls of a program that computes between them, so that they find nothing in the first-level caches.
 *
 * Rank 0 alone: sweeps a piece of memory and a piece of code, and posts a receive, sends to itself and waits for both.
 * An MPI_Allreduce ends each batch of iterations; batches are timed.
 *
 * usage: cold_calls [-k KIB] [-b BATCHES]
 *   -k  memory and code that is swept between the calls; 0: none    (64)
 *   -b  batches of 50 iterations                                    (4000)
 *
 * Prints one line of JSON, with the median over the batches and the time that a quarter of them stay below, which says
 * more where other programs run: {"batches": 4000, "calls": 3, "iteration_ns": 1710.2, "quarter_ns": 1702.9}
 * Exit code 2 on wrong usage.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LINE = 64, MAX_KIB = 4096, CODE_LINES = 1024, ITERATIONS = 50, CALLS = 3 };

static volatile char memory[MAX_KIB * 1024];
static char incoming[8], outgoing[8];

static double now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

__attribute__((noinline)) static void sweep(int kib) {
  for (int at = 0; at < kib * 1024; at += LINE) (void)memory[at];
  if (kib == 0) return;
#if defined(__x86_64__)
  __asm__ volatile(
      ".p2align 6\n"
      ".rept 1024\n"
      "jmp 1f\n"
      ".p2align 6\n"
      "1:\n"
      ".endr\n");
#endif
}

static void batch(int kib) {
  MPI_Request requests[2];
  for (int i = 0; i < ITERATIONS; i++) {
    sweep(kib);
    MPI_Irecv(incoming, (int)sizeof incoming, MPI_BYTE, 0, 0, MPI_COMM_SELF, &requests[0]);
    MPI_Isend(outgoing, (int)sizeof outgoing, MPI_BYTE, 0, 0, MPI_COMM_SELF, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
}

static int ascending(const void* left, const void* right) {
  double difference = *(const double*)left - *(const double*)right;
  return (difference > 0) - (difference < 0);
}

int main(int argc, char** argv) {
  int kib = 64, batches = 4000, usable = 1;
  MPI_Init(&argc, &argv);
  for (int i = 1; i < argc && usable; i++) {
    if (!strcmp(argv[i], "-k") && i + 1 < argc)
      kib = atoi(argv[++i]);
    else if (!strcmp(argv[i], "-b") && i + 1 < argc)
      batches = atoi(argv[++i]);
    else
      usable = 0;
  }
  usable = usable && kib >= 0 && kib <= MAX_KIB && batches >= 4;
  double* ns = usable ? malloc((size_t)batches * sizeof *ns) : NULL;
  if (ns == NULL) {
    fprintf(stderr, "usage: cold_calls [-k KIB, at most %d] [-b BATCHES, at least 4]\n", MAX_KIB);
  } else {
    batch(kib); /* warm up */
    for (int i = 0; i < batches; i++) {
      double begin = now_ns();
      char all = 0;
      batch(kib);
      ns[i] = (now_ns() - begin) / ITERATIONS;
      MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD);
    }
    qsort(ns, (size_t)batches, sizeof *ns, ascending);
    printf("{\"batches\": %d, \"calls\": %d, \"iteration_ns\": %.2f, \"quarter_ns\": %.2f}\n", batches, CALLS,
           ns[batches / 2], ns[batches / 4]);
    free(ns);
  }
  MPI_Finalize();
  return usable ? 0 : 2;
}

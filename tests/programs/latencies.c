/* latencies COUNT MARKS: rank 0 sends COUNT messages of six tags in turn to rank 1; both compute for a while between
 * two, the receiver longer, so that latencies are long and differ widely. Each message says when it was sent, on a
 * clock that both have. Rank 1 writes to MARKS: tag, number in its channel, and nanoseconds from before the send until
 * after the receive. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { tags = 6, window = 64 };

static int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void compute(int64_t ns) {
  for (const int64_t end = now_ns() + ns; now_ns() < end;) continue;
}

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc < 3) MPI_Abort(MPI_COMM_WORLD, 2);
  const long count = atol(argv[1]);
  int64_t sent = 0;
  int64_t* took = malloc(sizeof *took * (size_t)count);
  unsigned state = 1;
  for (long i = 0; i < count; ++i) {
    const int tag = (int)(i % tags);
    state = state * 1664525u + 1013904223u;
    if (rank == 0) {
      compute((state >> 8) % 5000);
      sent = now_ns();
      MPI_Send(&sent, sizeof sent, MPI_BYTE, 1, tag, MPI_COMM_WORLD);
    } else {
      compute(2000 + (state >> 12) % 10000);
      MPI_Recv(&sent, sizeof sent, MPI_BYTE, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      took[i] = now_ns() - sent;
    }
    /* The sender does not run away, or all that is measured is how far. */
    if (i % window == window - 1) MPI_Barrier(MPI_COMM_WORLD);
  }
  if (rank == 1) {
    FILE* marks = fopen(argv[2], "w");
    for (long i = 0; i < count; ++i) fprintf(marks, "%ld %ld %lld\n", i % tags, i / tags + 1, (long long)took[i]);
    fclose(marks);
  }
  MPI_Finalize();
  return 0;
}

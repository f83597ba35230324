/* init_finalize: how long MPI_Init and MPI_Finalize take, and nothing else.
 *
 * Every rank prints one line of JSON: {"rank": 0, "init_s": 0.041, "finalize_s": 0.003}
 */
#define _POSIX_C_SOURCE 199309L
#include <mpi.h>
#include <stdio.h>
#include <time.h>

static double now_s(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

int main(int argc, char** argv) {
  int rank;
  double start = now_s();
  MPI_Init(&argc, &argv);
  double init_s = now_s() - start;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  start = now_s();
  MPI_Finalize();
  printf("{\"rank\": %d, \"init_s\": %.6f, \"finalize_s\": %.6f}\n", rank, init_s, now_s() - start);
  return 0;
}

/* bcast_barrier: a small broadcast and a barrier in turn, the time of a pair.
 *
 * MPI_Bcast of SIZE bytes from rank 0, then MPI_Barrier, on all ranks of MPI_COMM_WORLD. Meant for
 * 2 ranks: the shortest collectives there are, so that what a tool adds to a call shows at once.
 *
 * usage: bcast_barrier [-i ITERATIONS] [-r ROUNDS] [-s SIZE]
 *   -i  pairs in a round   (20000)
 *   -r  rounds             (9)
 *   -s  bytes of a Bcast   (1024)
 *
 * Rank 0 prints one line of JSON, the median over the rounds and the fastest round in ns a pair:
 *   {"ranks": 2, "iterations": 20000, "rounds": 9, "size_bytes": 1024, "pair_ns": 910.2, "pair_min_ns": 884.0}
 * Exit code 2 on wrong usage.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ROUNDS = 1000 };

static int ascending(const void* left, const void* right) {
  double difference = *(const double*)left - *(const double*)right;
  return (difference > 0) - (difference < 0);
}

__attribute__((noinline)) static void pairs(long iterations, char* buffer, int size_bytes) {
  for (long i = 0; i < iterations; i++) {
    MPI_Bcast(buffer, size_bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

static void measure(long iterations, int rounds, int size_bytes, char* buffer) {
  static double pair_ns[MAX_ROUNDS];
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  pairs(iterations / 10, buffer, size_bytes); /* warm up */
  for (int round = 0; round < rounds; round++) {
    double start = MPI_Wtime();
    pairs(iterations, buffer, size_bytes);
    pair_ns[round] = (MPI_Wtime() - start) * 1e9 / (double)iterations;
  }
  qsort(pair_ns, (size_t)rounds, sizeof pair_ns[0], ascending);
  if (rank == 0)
    printf(
        "{\"ranks\": %d, \"iterations\": %ld, \"rounds\": %d, \"size_bytes\": %d, "
        "\"pair_ns\": %.1f, \"pair_min_ns\": %.1f}\n",
        size, iterations, rounds, size_bytes, pair_ns[rounds / 2], pair_ns[0]);
}

int main(int argc, char** argv) {
  long iterations = 20000;
  int rounds = 9, size_bytes = 1024, usable = 1, rank;

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 1; i < argc && usable; i++) {
    if (!strcmp(argv[i], "-i") && i + 1 < argc)
      iterations = atol(argv[++i]);
    else if (!strcmp(argv[i], "-r") && i + 1 < argc)
      rounds = atoi(argv[++i]);
    else if (!strcmp(argv[i], "-s") && i + 1 < argc)
      size_bytes = atoi(argv[++i]);
    else
      usable = 0;
  }
  usable = usable && iterations > 0 && rounds > 0 && rounds <= MAX_ROUNDS && size_bytes >= 0;
  char* buffer = usable ? calloc((size_t)size_bytes + 1, 1) : NULL;
  if (buffer)
    measure(iterations, rounds, size_bytes, buffer);
  else if (rank == 0)
    fprintf(stderr, "usage: bcast_barrier [-i ITERATIONS] [-r ROUNDS, at most %d] [-s SIZE]\n", MAX_ROUNDS);
  free(buffer);
  MPI_Finalize();
  return usable ? 0 : 2;
}

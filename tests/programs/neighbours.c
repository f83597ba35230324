/* Exchanges messages with neighbours in iterations, computes, and calls no collective operation between.
 * Usage: neighbours SECONDS [BARRIERS]; BARRIERS: the number of first iterations with a barrier. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void compute(int amount) {
  volatile double x = 2;
  for (int i = 0; i < amount; ++i) x = x * 0.999999 + 1e-6;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const double seconds = atof(argv[1]);
  const int barriers = argc > 2 ? atoi(argv[2]) : 0;
  const int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
  char out[64] = {0}, in[64];
  double go = 1;
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (int i = 0; go != 0; ++i) {
    for (int k = 0; k < 4; ++k) {
      MPI_Request request;
      MPI_Irecv(in, sizeof in, MPI_BYTE, left, 1, MPI_COMM_WORLD, &request);
      MPI_Send(out, sizeof out, MPI_BYTE, right, 1, MPI_COMM_WORLD);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      compute(2000);
    }
    compute(20000);
    if (i < barriers) MPI_Barrier(MPI_COMM_WORLD);
    /* The first rank says when it is enough, from one to the next. */
    if (rank == 0) go = MPI_Wtime() - begin < seconds;
    if (rank != 0) MPI_Recv(&go, 1, MPI_DOUBLE, left, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank != ranks - 1) MPI_Send(&go, 1, MPI_DOUBLE, right, 2, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}

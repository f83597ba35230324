/* Each rank works when the one before it has, and all of them once more together: rank after rank, 100 ms each, then
   50 ms. pipeline */
#include <mpi.h>
#include <stdio.h>
#include <time.h>

static void work(long ms) {
  const struct timespec t = {0, ms * 1000000};
  nanosleep(&t, NULL);
}

int main(int argc, char** argv) {
  int rank, size, token = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank > 0) MPI_Recv(&token, 1, MPI_INT, rank - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  work(100);
  if (rank + 1 < size) MPI_Send(&token, 1, MPI_INT, rank + 1, 1, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  work(50);
  MPI_Finalize();
  if (rank == 0) puts("ok");
  return 0;
}

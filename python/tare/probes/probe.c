/* Makes a known number of calls of each kind; tare doctor compares what is recorded. */
#include <mpi.h>

int main(int argc, char** argv) {
  int rank, size, i;
  double mine = 1, sum, other;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (i = 0; i < 3; i++) MPI_Barrier(MPI_COMM_WORLD);
  for (i = 0; i < 5; i++) MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (i = 0; i < 7; i++)
    MPI_Sendrecv(&mine, 1, MPI_DOUBLE, (rank + 1) % size, 0, &other, 1, MPI_DOUBLE, (rank + size - 1) % size, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return sum == size && other == 1 ? 0 : 9;
}

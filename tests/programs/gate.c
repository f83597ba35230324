/* gate FILE: rank 0 waits, outside MPI, until FILE exists; the others wait for it in a barrier. */
#include <mpi.h>
#include <unistd.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  while (rank == 0 && argc > 1 && access(argv[1], F_OK) != 0) usleep(10000);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}

/* Ranks meet in 5 barriers; then rank 1 sleeps for 400 ms before MPI_Finalize. */
#include <mpi.h>
#include <time.h>

int main(int argc, char** argv) {
  const struct timespec nap = {0, 400000000};
  int rank = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int step = 0; step < 5; ++step) MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) nanosleep(&nap, NULL);
  MPI_Finalize();
  return 0;
}

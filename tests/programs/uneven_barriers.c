/* Rank 0 sleeps 5 ms before each of 100 barriers, the others 1 ms, so that they are in MPI for most of the time. Before
 * each barrier, every rank reads 50 bytes one by one. */
#include <fcntl.h>
#include <mpi.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char** argv) {
  int rank;
  char byte;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int file = open("/dev/zero", O_RDONLY);
  for (int step = 0; step < 100; ++step) {
    const struct timespec span = {0, (rank == 0 ? 5 : 1) * 1000000L};
    nanosleep(&span, NULL);
    for (int i = 0; i < 50; ++i)
      if (read(file, &byte, 1) != 1) return 1;
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Finalize();
}

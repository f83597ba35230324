/* shared_window MIB: the ranks share a window of so many MiB in all, and write to all of it. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  int size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const MPI_Aint own = ((MPI_Aint)atoi(argv[1]) << 20) / size;
  char* memory = NULL;
  MPI_Win window;
  MPI_Win_allocate_shared(own, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  memset(memory, 1, own);
  for (int i = 0; i < 100; ++i) MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) puts("done");
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}

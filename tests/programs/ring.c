/* ring ROUNDS FILE [END]: passes a number around, half a millisecond a round; rank 0 says in FILE that it has left
 * MPI_Init, and prints the sum. It ends soon after somebody has made the file END. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
  int rank, size;
  long sum = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (rank == 0) fclose(fopen(argv[2], "w"));
  const int rounds = atoi(argv[1]);
  for (int i = 0; i < rounds; ++i) {
    int received;
    MPI_Sendrecv(&i, 1, MPI_INT, (rank + 1) % size, 3, &received, 1, MPI_INT, (rank + size - 1) % size, 3, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    sum += received;
    usleep(500);
    if (argc > 3 && i % 64 == 63) {
      int ends = access(argv[3], F_OK) == 0;
      MPI_Bcast(&ends, 1, MPI_INT, 0, MPI_COMM_WORLD);
      if (ends) break;
    }
  }
  if (rounds > 0) MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("sum %ld\n", sum);
  MPI_Finalize();
  return 0;
}

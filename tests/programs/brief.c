/* usage: brief ROUNDS CALLS : rounds of CALLS each of MPI_Send, MPI_Recv and MPI_Sendrecv that move nothing, then one
 * collective of all ranks. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rounds = argc > 1 ? atoi(argv[1]) : 1000, calls = argc > 2 ? atoi(argv[2]) : 100;
  double out = 1, in = 0;
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < calls; ++i) {
      MPI_Send(&out, 1, MPI_DOUBLE, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
      MPI_Recv(&in, 1, MPI_DOUBLE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Sendrecv(&out, 1, MPI_DOUBLE, MPI_PROC_NULL, 0, &in, 1, MPI_DOUBLE, MPI_PROC_NULL, 0, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  printf("ok\n");
  MPI_Finalize();
  return 0;
}

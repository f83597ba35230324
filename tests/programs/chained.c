/* 5 sends, 3 barriers, 7 rank queries, on one rank. */
#include <mpi.h>

int main(int argc, char** argv) {
  int rank, i, value = 0;
  MPI_Init(&argc, &argv);
  for (i = 0; i < 5; ++i) MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
  for (i = 0; i < 3; ++i) MPI_Barrier(MPI_COMM_WORLD);
  for (i = 0; i < 7; ++i) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return MPI_Finalize();
}

#include <mpi.h>
#include <stdlib.h>

enum { cells = 1000, steps = 500 };

static void exchange(double* field, int rank, MPI_Comm comm) {
  const int other = 1 - rank;
  const int mine = rank == 0 ? cells : 1, halo = rank == 0 ? cells + 1 : 0;
  MPI_Request requests[2];
  MPI_Irecv(&field[halo], 1, MPI_DOUBLE, other, 7, comm, &requests[0]);
  MPI_Isend(&field[mine], 1, MPI_DOUBLE, other, 7, comm, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size != 2) MPI_Abort(MPI_COMM_WORLD, 2);
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_name(comm, "stencil");
  double *field = calloc(cells + 2, sizeof *field), heat = 0;
  field[1] = rank + 1;
  for (int step = 0; step < steps; ++step) {
    exchange(field, rank, comm);
    heat = 0;
    for (int i = 1; i <= cells; ++i) heat += field[i] = (field[i - 1] + field[i] + field[i + 1]) / 3;
    if (step % 10 == 0) MPI_Allreduce(MPI_IN_PLACE, &heat, 1, MPI_DOUBLE, MPI_SUM, comm);
  }
  if (rank == 0) MPI_Send(&heat, 1, MPI_DOUBLE, 1, 9, MPI_COMM_WORLD);
  if (rank == 1) MPI_Recv(&heat, 1, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  free(field);
  return 0;
}

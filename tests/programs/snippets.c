/* The program that the pages of the documentation measure: ranks exchange messages on a communicator "rows". */
#include <mpi.h>

static void exchange(MPI_Comm comm, int rank, int size) {
  double sent = rank, received;
  MPI_Request requests[2];
  MPI_Irecv(&received, 1, MPI_DOUBLE, (rank + size - 1) % size, 7, comm, &requests[0]);
#line 120 "solver.c"
  MPI_Isend(&sent, 1, MPI_DOUBLE, (rank + 1) % size, 7, comm, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char** argv) {
  int rank, size;
  double sum, one = 1;
  MPI_Comm rows;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &rows);
  MPI_Comm_set_name(rows, "rows");
  for (int i = 0; i < 20; i++) {
    MPI_Comm_rank(rows, &rank);
    MPI_Comm_size(rows, &size);
    exchange(rows, rank, size);
    MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  exchange(MPI_COMM_WORLD, rank, size);
  MPI_Comm_free(&rows);
  MPI_Finalize();
  return 0;
}

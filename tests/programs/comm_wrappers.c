// A program's own wrappers of MPI: each function calls one of MPI's.
#include "comm_wrappers.h"

#include <mpi.h>

void comm_barrier(void) { MPI_Barrier(MPI_COMM_SELF); }

double comm_sum(double value) {
  double sum = 0;
  MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
  return sum;
}

void comm_share(double* values, int count) { MPI_Bcast(values, count, MPI_DOUBLE, 0, MPI_COMM_SELF); }

// An application that calls MPI by wrappers of its own, from lines that a profile has to tell apart.
#include "comm_wrappers.h"

static double setup(double* values) {
  comm_share(values, 4);     /* setup share */
  double norm = comm_sum(1); /* setup sum */
  comm_barrier();            /* setup barrier */
  return norm;
}

static double solve(double* values) {
  double norm = comm_sum(values[0]); /* solve sum */
  comm_share(values, 2);             /* solve share */
  comm_barrier();                    /* solve barrier */
  return norm;
}

double application(void) {
  double values[4] = {1, 2, 3, 4};
  double norm = setup(values);
  for (int i = 0; i < 5; ++i) norm += solve(values);
  return norm;
}

/* phases: phases of the API and of MPI_Pcontrol, with known calls in each; 1 or more ranks; prints "ok".
 *
 * tests/integration/test_phases.py knows what it does: change both.
 */
#include <mpi.h>
#include <stdio.h>
#include <time.h>

#include "tare/tare.h"

static double cell; /* 8 bytes */

static void sends(int n) {
  for (int i = 0; i < n; i++) MPI_Send(&cell, 1, MPI_DOUBLE, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
}

/* A known number of bytes. */
static void broadcasts(int n) {
  for (int i = 0; i < n; i++) MPI_Bcast(&cell, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

static void rest(void) {
  const struct timespec fiftieth_s = {0, 20 * 1000 * 1000};
  nanosleep(&fiftieth_s, NULL);
}

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const tare_id setup = tare_define_phase("setup");
  const tare_id iterate = tare_define_phase("iterate");
  const tare_id inner = tare_define_phase("inner");

  tare_begin_phase(setup);
  rest();
  broadcasts(3);
  double sum;
  MPI_Allreduce(&cell, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); /* 8 bytes go in, as many come out */
  tare_end_phase(setup);
  sends(2); /* outside */

  for (int i = 0; i < 5; i++) {
    tare_begin_phase(iterate);
    broadcasts(2);
    tare_begin_phase(inner);
    sends(4);
    tare_end_phase(inner);
    sends(1);
    tare_end_phase(iterate);
  }

  MPI_Pcontrol(7);
  sends(3);
  MPI_Pcontrol(8);
  sends(4);
  MPI_Pcontrol(7);
  sends(1);
  MPI_Pcontrol(1);
  MPI_Pcontrol(2);

  MPI_Pcontrol(0);
  sends(1000); /* not recorded */
  broadcasts(1000);
  MPI_Pcontrol(1);
  sends(1);

  tare_begin_phase(setup); /* never ends */
  sends(1);
  if (rank == 0) printf("ok\n");
  MPI_Finalize();
  return 0;
}

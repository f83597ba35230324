/* Uses its processor for known times in the parts of a run: sampled_parts STEPS. In each step, each rank spends 30 ms
 * in `smooth`, which is a phase, between MPI_Barrier and MPI_Allreduce, and 10 ms in `residual` behind it; in the
 * middle one, 200 ms more. With a second argument, there are no phases. Times are processor time. */
#include <mpi.h>
#include <stdlib.h>
#include <tare/tare.h>
#include <time.h>

#include "compute.h"

__attribute__((noinline)) static void smooth(void) {
  compute(30);
  sink += 1;
}
__attribute__((noinline)) static void residual(double ms) {
  compute(ms);
  sink += 2;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const tare_id phase = argc < 3 ? tare_define_phase("smoothing") : 0;
  const int steps = atoi(argv[1]);
  double value = 1, sum;
  for (int step = 0; step < steps; step++) {
    tare_begin_phase(phase);
    smooth();
    tare_end_phase(phase);
    MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    residual(step == steps / 2 ? 210 : 10);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}

/* A region around a call of MPI. */
#include <mpi.h>
#include <tare/tare.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const tare_id region = tare_define_region("exchange");
  tare_enter(region);
  MPI_Barrier(MPI_COMM_WORLD);
  tare_leave(region);
  MPI_Finalize();
  return 0;
}

/* slow_tool: a tool of the profiling interface that takes INIT_MS in MPI_Init and FINALIZE_MS in MPI_Finalize. */
#include <mpi.h>
#include <unistd.h>

enum { INIT_MS = 60, FINALIZE_MS = 40 };

int MPI_Init(int* argc, char*** argv) {
  usleep(1000 * INIT_MS);
  return PMPI_Init(argc, argv);
}

int MPI_Finalize(void) {
  int result = PMPI_Finalize();
  usleep(1000 * FINALIZE_MS);
  return result;
}

/* destructor_library: starts and ends MPI behind the program's back, as some libraries do. */
#include <mpi.h>

__attribute__((constructor)) static void start(void) { MPI_Init(0, 0); }

__attribute__((destructor)) static void end(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
}

void library_call(void) { MPI_Barrier(MPI_COMM_WORLD); }

/* A tool that stands above MPI by the loader alone, without MPI's profiling interface: for test_dlsym.py. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

static int barriers;

int MPI_Barrier(MPI_Comm comm) {
  int (*next)(MPI_Comm) = (int (*)(MPI_Comm))dlsym(RTLD_NEXT, "MPI_Barrier");
  ++barriers;
  return next(comm);
}

int MPI_Finalize(void) {
  int (*next)(void) = (int (*)(void))dlsym(RTLD_NEXT, "MPI_Finalize");
  printf("next tool: %d barriers\n", barriers);
  return next();
}

/* A plugin that was linked with MPI, and finds its functions by RTLD_DEFAULT: for programs/dlopened.c. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>

void* plugin_find(const char* name) {
  void* found = dlsym(RTLD_DEFAULT, name);
  return found;
}

int plugin_use(void) { return MPI_Init(0, 0) + MPI_Barrier(MPI_COMM_WORLD) + MPI_Finalize(); }

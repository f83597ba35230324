/* bypass: whether calls go from the program to the MPI library without another frame between.
 *
 * Each message goes to a rank that there is not. So the MPI library calls an error handler, which looks at the stack:
 * is libtare.so on it? A barrier follows each message. Prints {"through": CALLS, "bypassed": CALLS} of the first rank.
 *
 * usage: bypass MESSAGES
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int through, bypassed;

static void look(MPI_Comm* comm, int* error, ...) {
  void* frames[32];
  int count = backtrace(frames, 32), found = 0;
  (void)comm;
  (void)error;
  for (int i = 0; i < count; i++) {
    Dl_info info;
    if (dladdr(frames[i], &info) && info.dli_fname && strstr(info.dli_fname, "libtare.so")) found = 1;
  }
  found ? through++ : bypassed++;
}

int main(int argc, char** argv) {
  MPI_Errhandler handler;
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_create_errhandler(look, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  for (int i = 0; i < atoi(argv[1]); i++) {
    MPI_Send(&i, 1, MPI_INT, 1 << 20, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  if (rank == 0) printf("{\"through\": %d, \"bypassed\": %d}\n", through, bypassed);
  MPI_Errhandler_free(&handler);
  MPI_Finalize();
  return 0;
}

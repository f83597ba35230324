/* endings WAY [FILE]: the last rank ends in some way, and the others wait for it in MPI.
 *
 * WAY: segv, abort, mpi_abort (code 3), callback (the same in an operation of MPI_Reduce_local), crash (by SIGSEGV in
 * such an operation), exit (3), _exit (0), kill (waits for it), deadlock (all wait for each other), fails (it ends as
 * it should, with code 5).
 * FILE.RANK holds the process id, once the rank is in the program. tests/integration/test_endings.py knows.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void write_pid(const char* file, int rank) {
  char path[4096], done[4096];
  snprintf(path, sizeof path, "%s.%d.new", file, rank);
  snprintf(done, sizeof done, "%s.%d", file, rank);
  FILE* out = fopen(path, "w");
  if (!out) MPI_Abort(MPI_COMM_WORLD, 9);
  fprintf(out, "%d", (int)getpid());
  fclose(out);
  rename(path, done);
}

static void operate(void* in, void* out, int* count, MPI_Datatype* type) {
  (void)in, (void)out, (void)count, (void)type;
  MPI_Abort(MPI_COMM_WORLD, 3);
}

static void crash(void* in, void* out, int* count, MPI_Datatype* type) {
  (void)in, (void)out, (void)count, (void)type;
  *(volatile int*)0 = 1;
}

static void reduce_by(MPI_User_function* operation) {
  int in = 1, out = 2;
  MPI_Op op;
  MPI_Op_create(operation, 1, &op);
  MPI_Reduce_local(&in, &out, 1, MPI_INT, op);
}

int main(int argc, char** argv) {
  const char* way = argc > 1 ? argv[1] : "";
  int rank, size, value = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc > 2) write_pid(argv[2], rank);
  MPI_Barrier(MPI_COMM_WORLD);
  const int fails = !strcmp(way, "fails");
  if (fails) return MPI_Finalize() != MPI_SUCCESS ? 9 : rank == size - 1 ? 5 : 0;
  if (rank == size - 1 && strcmp(way, "deadlock") != 0) {
    if (!strcmp(way, "segv")) *(volatile int*)0 = 1;
    if (!strcmp(way, "abort")) abort();
    if (!strcmp(way, "mpi_abort")) MPI_Abort(MPI_COMM_WORLD, 3);
    if (!strcmp(way, "callback")) reduce_by(operate);
    if (!strcmp(way, "crash")) reduce_by(crash);
    if (!strcmp(way, "exit")) exit(3);
    if (!strcmp(way, "_exit")) _exit(0);
    for (;;) pause();
  }
  MPI_Recv(&value, 1, MPI_INT, (rank + 1) % size, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return MPI_Finalize();
}

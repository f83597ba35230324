/* onesided FILE: four ranks use windows and files of all kinds; prints "ok". */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, size;
static double out[100], in[100];

static void windows(MPI_Comm comm, int me, int n) {
  const int next = (me + 1) % n;
  double* memory;
  MPI_Win shared, allocated;
  MPI_Win_allocate_shared(100 * sizeof(double), sizeof(double), MPI_INFO_NULL, comm, &memory, &shared);
  MPI_Win_allocate(100 * sizeof(double), sizeof(double), MPI_INFO_NULL, comm, &memory, &allocated);
  MPI_Win_set_name(allocated, "halo");
  MPI_Win_fence(0, shared);
  MPI_Put(out, 10, MPI_DOUBLE, next, 0, 10, MPI_DOUBLE, shared);
  MPI_Get(in, 5, MPI_DOUBLE, next, 20, 5, MPI_DOUBLE, shared);
  MPI_Win_fence(0, shared);
  MPI_Win_lock(MPI_LOCK_SHARED, next, 0, allocated);
  MPI_Accumulate(out, 3, MPI_DOUBLE, next, 0, 3, MPI_DOUBLE, MPI_SUM, allocated);
  MPI_Get_accumulate(out, 4, MPI_DOUBLE, in, 4, MPI_DOUBLE, next, 0, 4, MPI_DOUBLE, MPI_SUM, allocated);
  MPI_Fetch_and_op(out, in, MPI_DOUBLE, next, 0, MPI_SUM, allocated);
  MPI_Win_unlock(next, allocated);
  MPI_Win_free(&shared);
  MPI_Win_free(&allocated);
}

static void files(const char* name) {
  MPI_File shared, own;
  char mine[4096];
  MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &shared);
  MPI_File_write_at_all(shared, (MPI_Offset)(rank * sizeof out), out, 100, MPI_DOUBLE, MPI_STATUS_IGNORE);
  MPI_File_read_at(shared, 0, in, 10, MPI_DOUBLE, MPI_STATUS_IGNORE);
  MPI_File_close(&shared);
  snprintf(mine, sizeof mine, "%s.%d", name, rank);
  for (int i = 0; i < 2; i++) { /* the same file twice */
    MPI_File_open(MPI_COMM_SELF, mine, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &own);
    MPI_File_write(own, out, 10 + i, MPI_DOUBLE, MPI_STATUS_IGNORE);
    MPI_File_close(&own);
  }
}

int main(int argc, char** argv) {
  MPI_Comm half;
  int me, n;
  if (argc != 2) return 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  windows(MPI_COMM_WORLD, rank, size);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  MPI_Comm_set_name(half, rank % 2 ? "odd" : "even");
  MPI_Comm_rank(half, &me);
  MPI_Comm_size(half, &n);
  windows(half, me, n);
  MPI_Comm_free(&half);
  files(argv[1]);
  MPI_Finalize();
  if (rank == 0) puts("ok");
  return 0;
}

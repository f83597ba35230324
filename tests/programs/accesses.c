/* accesses: each rank accesses the memory of the next one in all ways that MPI has; prints "ok". */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank, size;
  double* memory;
  double out[8] = {1}, in[8];
  const double compared = 0;
  MPI_Win window;
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int next = (rank + 1) % size, before = (rank + size - 1) % size;
  MPI_File other; /* windows and files have numbers of one sequence in a run */
  MPI_File_open(MPI_COMM_WORLD, argv[0], MPI_MODE_RDONLY, MPI_INFO_NULL, &other);
  MPI_Win_allocate(64 * sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  MPI_Win_set_name(window, "memory");
  MPI_Win_fence(0, window);
  MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
  if (MPI_Put(out, 3, MPI_DOUBLE, size, 0, 3, MPI_DOUBLE, window) == MPI_SUCCESS) return 1; /* there is no such rank */
  MPI_Put(out, 3, MPI_DOUBLE, next, 0, 3, MPI_DOUBLE, window);
  MPI_Get(in, 2, MPI_DOUBLE, before, 8, 2, MPI_DOUBLE, window);
  MPI_Put(out, 3, MPI_DOUBLE, MPI_PROC_NULL, 0, 3, MPI_DOUBLE, window); /* accesses nothing */
  MPI_Win_fence(0, window);
  MPI_Win_lock(MPI_LOCK_SHARED, next, 0, window);
  MPI_Accumulate(out, 4, MPI_DOUBLE, next, 16, 4, MPI_DOUBLE, MPI_SUM, window);
  MPI_Win_flush(next, window);
  MPI_Get_accumulate(out, 1, MPI_DOUBLE, in, 1, MPI_DOUBLE, next, 24, 1, MPI_DOUBLE, MPI_SUM, window);
  MPI_Win_unlock(next, window);
  MPI_Win_lock_all(0, window);
  MPI_Fetch_and_op(out, in, MPI_DOUBLE, next, 32, MPI_SUM, window);
  MPI_Win_flush_local(next, window);
  MPI_Compare_and_swap(out, &compared, in, MPI_DOUBLE, before, 40, window);
  MPI_Rput(out, 5, MPI_DOUBLE, next, 48, 5, MPI_DOUBLE, window, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
  MPI_File_close(&other);
  MPI_Finalize();
  if (rank == 0) puts("ok");
  return 0;
}

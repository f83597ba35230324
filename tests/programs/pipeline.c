/* Each rank works when the one before it has, and all of them once more together: rank after rank, 100 ms each, then
   50 ms. pipeline [threads]
   With threads, each rank has a second one that works in a pipeline of its own beside the first. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

static int rank, size;

static void work(long ms) {
  const struct timespec t = {0, ms * 1000000};
  nanosleep(&t, NULL);
}

static void* stage(void* tag_at) {
  int token = 0, tag = *(int*)tag_at;
  if (rank > 0) MPI_Recv(&token, 1, MPI_INT, rank - 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  work(100);
  if (rank + 1 < size) MPI_Send(&token, 1, MPI_INT, rank + 1, tag, MPI_COMM_WORLD);
  return NULL;
}

int main(int argc, char** argv) {
  int level, tags[] = {1, 2};
  pthread_t second;
  MPI_Init_thread(&argc, &argv, argc > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
  if (argc > 1 && level < MPI_THREAD_MULTIPLE) MPI_Abort(MPI_COMM_WORLD, 1);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Barrier(MPI_COMM_WORLD);
  if (argc > 1 && pthread_create(&second, NULL, stage, &tags[1]) != 0) MPI_Abort(MPI_COMM_WORLD, 1);
  stage(&tags[0]);
  if (argc > 1) pthread_join(second, NULL);
  MPI_Barrier(MPI_COMM_WORLD);
  work(50);
  MPI_Finalize();
  if (rank == 0) puts("ok");
  return 0;
}

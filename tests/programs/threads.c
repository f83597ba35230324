/* threads: MPI_THREAD_MULTIPLE, two generations of 8 threads that all call MPI at once; prints "ok".
 *
 * Each thread has a communicator of its own and makes on it, on every rank:
 *   NULL_SENDS MPI_Send to MPI_PROC_NULL, EXCHANGES of MPI_Irecv (8 bytes), MPI_Send (8 bytes) and
 *   MPI_Wait with the other rank, EXCHANGES / 10 MPI_Allreduce.
 * tests/integration/test_threads.py knows these numbers.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 8, GENERATIONS = 2, NULL_SENDS = 5000, EXCHANGES = 50 };

static int rank, size;

static void* work(void* argument) {
  MPI_Comm comm = *(MPI_Comm*)argument;
  double out = rank, in = -1.0, sum = 0.0;
  MPI_Request request;
  for (int i = 0; i < NULL_SENDS; i++) MPI_Send(&out, 1, MPI_DOUBLE, MPI_PROC_NULL, 0, comm);
  for (int i = 0; i < EXCHANGES; i++) {
    int peer = size - 1 - rank;
    MPI_Irecv(&in, 1, MPI_DOUBLE, peer, 0, comm, &request);
    MPI_Send(&out, 1, MPI_DOUBLE, peer, 0, comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (in != peer) MPI_Abort(MPI_COMM_WORLD, 1);
    if (i % 10 == 0) MPI_Allreduce(&out, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
  }
  return NULL;
}

int main(int argc, char** argv) {
  MPI_Comm comms[THREADS];
  pthread_t threads[THREADS];
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (provided != MPI_THREAD_MULTIPLE) {
    fprintf(stderr, "threads: this MPI does not provide MPI_THREAD_MULTIPLE\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  for (int i = 0; i < THREADS; i++) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
  for (int generation = 0; generation < GENERATIONS; generation++) {
    for (int i = 0; i < THREADS; i++)
      if (pthread_create(&threads[i], NULL, work, &comms[i]) != 0) abort();
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  }
  for (int i = 0; i < THREADS; i++) MPI_Comm_free(&comms[i]);
  if (rank == 0) printf("ok\n");
  MPI_Finalize();
  return 0;
}

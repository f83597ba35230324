/* usage: rounds ROUNDS [progress] : rounds of messages of every kind that keeps a request, then one collective of all
 * ranks; every seventh round begins with a receive that was posted before that. With `progress`, rounds end with
 * tare_progress() and no collective. Prints "ok" where all data were right. */
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef PROGRESS
#  include <tare/tare.h>
#endif

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rounds = argc > 1 ? atoi(argv[1]) : 100;
  const int by_progress = argc > 2 && strcmp(argv[2], "progress") == 0;
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  int in[4] = {0}, out[4], wrong = 0, early = -1;
  MPI_Request persistent[2], pair[2], posted = MPI_REQUEST_NULL, polled;
  MPI_Send_init(&out[1], 1, MPI_INT, right, 1, MPI_COMM_WORLD, &persistent[0]);
  MPI_Recv_init(&in[1], 1, MPI_INT, left, 1, MPI_COMM_WORLD, &persistent[1]);
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < 4; ++i) out[i] = round + i;
    if (posted != MPI_REQUEST_NULL) {
      MPI_Send(&round, 1, MPI_INT, right, 4, MPI_COMM_WORLD);
      MPI_Wait(&posted, MPI_STATUS_IGNORE);
      wrong += early != round;
    }
    MPI_Irecv(&in[0], 1, MPI_INT, left, 0, MPI_COMM_WORLD, &pair[0]);
    MPI_Isend(&out[0], 1, MPI_INT, right, 0, MPI_COMM_WORLD, &pair[1]);
    MPI_Waitall(2, pair, MPI_STATUSES_IGNORE);
    MPI_Startall(2, persistent);
    MPI_Waitall(2, persistent, MPI_STATUSES_IGNORE);
    MPI_Sendrecv(&out[2], 1, MPI_INT, right, 2, &in[2], 1, MPI_INT, left, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Irecv(&in[3], 1, MPI_INT, left, 3, MPI_COMM_WORLD, &polled);
    MPI_Send(&out[3], 1, MPI_INT, right, 3, MPI_COMM_WORLD);
    int done = 0;
    while (!done) {
      sched_yield();
      MPI_Test(&polled, &done, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < 4; ++i) wrong += in[i] != round + i;
    int sum = 0;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, half);
    if (round % 10 == 0) {
      MPI_Comm copy;
      MPI_Comm_dup(half, &copy);
      MPI_Comm_free(&copy);
    }
    if (round % 7 == 6 && round + 1 < rounds) MPI_Irecv(&early, 1, MPI_INT, left, 4, MPI_COMM_WORLD, &posted);
    if (!by_progress) {
      MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
      wrong += sum != size * (size - 1) / 2;
    }
#ifdef PROGRESS
    if (by_progress) tare_progress();
#endif
  }
  MPI_Request_free(&persistent[0]);
  MPI_Request_free(&persistent[1]);
  MPI_Comm_free(&half);
  if (wrong == 0) puts("ok");
  MPI_Finalize();
  return wrong != 0;
}

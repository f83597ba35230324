// Programs that hang, each in its own way, or only seem to: `waiting WAY`, for tests of `tare where`.
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

#include "by_name.h"

enum { large = 4 << 20, tag = 7, forever_s = 600 };

static int rank, ranks;

// A receive without a send: rank 1 waits for rank 0, who is in a barrier that rank 1 does not reach.
PROGRAM(receive) {
  int value = 0;
  if (rank == 1) MPI_Recv(&value, 1, MPI_INT, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
}

// Sends above the eager limit around a ring, before anybody receives.
PROGRAM(crossed) {
  char* out = calloc(large, 1);
  char* in = calloc(large, 1);
  MPI_Send(out, large, MPI_BYTE, (rank + 1) % ranks, tag, MPI_COMM_WORLD);
  MPI_Recv(in, large, MPI_BYTE, (rank + ranks - 1) % ranks, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  free(in);
  free(out);
}

// The last rank is busy, and does not reach the barrier of a communicator.
PROGRAM(barrier) {
  MPI_Comm all;
  MPI_Comm_dup(MPI_COMM_WORLD, &all);
  MPI_Comm_set_name(all, "everybody");
  if (rank == ranks - 1) sleep(forever_s);
  MPI_Barrier(all);
}

// Rank 0 exits without MPI_Finalize.
PROGRAM(exits) {
  if (rank == 0) exit(3);
  int answer = 0;
  MPI_Recv(&answer, 1, MPI_INT, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

// All wait for a message from their neighbour that nobody sends.
PROGRAM(waitall) {
  static int values[2];
  MPI_Request requests[2];
  for (int i = 0; i < 2; ++i)
    MPI_Irecv(&values[i], 1, MPI_INT, (rank + 1) % ranks, tag + i, MPI_COMM_WORLD, &requests[i]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

// A server that receives from anybody, while one of the others will send, in time.
PROGRAM(wildcard) {
  int value = rank;
  if (rank == ranks - 1) sleep(forever_s);
  if (rank == 0)
    MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  else
    MPI_Recv(&value, 1, MPI_INT, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

// Each names itself as the root.
PROGRAM(roots) {
  int value = rank, sum = 0;
  MPI_Reduce(&value, &sum, 1, MPI_INT, MPI_SUM, rank, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
}

// A send that waits for its receive, which has another tag.
PROGRAM(tags) {
  int value = rank;
  if (rank == 0)
    MPI_Ssend(&value, 1, MPI_INT, 1, tag + 1, MPI_COMM_WORLD);
  else
    MPI_Recv(&value, 1, MPI_INT, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
}

// A small message with another tag than the receive: its send has long returned.
PROGRAM(lost) {
  int value = rank;
  if (rank == 0) MPI_Send(&value, 1, MPI_INT, 1, tag + 1, MPI_COMM_WORLD);
  if (rank != 0) MPI_Recv(&value, 1, MPI_INT, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
}

// The same collectives on two communicators, the other way round on rank 1.
PROGRAM(orders) {
  MPI_Comm both[2];
  int value = rank, sum = 0;
  for (int i = 0; i < 2; ++i) {
    MPI_Comm_dup(MPI_COMM_WORLD, &both[i]);
    MPI_Comm_set_name(both[i], i == 0 ? "first" : "second");
  }
  for (int i = 0; i < 2; ++i) MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, both[rank == 1 ? 1 - i : i]);
}

// Rank 1 asks for ever whether a message has come, which rank 0 sends only after a barrier.
PROGRAM(polls) {
  int value = 0, done = 0;
  if (rank == 1) {
    MPI_Request request;
    MPI_Irecv(&value, 1, MPI_INT, 0, tag, MPI_COMM_WORLD, &request);
    while (!done) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) MPI_Send(&value, 1, MPI_INT, 1, tag, MPI_COMM_WORLD);
}

PROGRAM(probes) {
  int value = 0, found = 0;
  while (rank == 1 && !found) MPI_Iprobe(0, tag, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) MPI_Send(&value, 1, MPI_INT, 1, tag, MPI_COMM_WORLD);
}

// A program that goes on: rank 0 works, long, between messages that the others wait for.
PROGRAM(slow) {
  for (int i = 0; i < forever_s; ++i) {
    int value = i;
    if (rank == 0) sleep(3);
    MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Sendrecv_replace(&value, 1, MPI_INT, (rank + 1) % ranks, tag, (rank + ranks - 1) % ranks, tag, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc > 1) run(argv[1]);
  MPI_Finalize();
  return 0;
}

/* Every message has a size of its own, so that it can be told which send belongs to which receive: matched ROUNDS.
 * Through all ways to send and to receive, with wildcards before and between other receives. 2 ranks or more. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST (1 << 16)

static int rank, size, serial;
static char out[8][MOST], in[8][MOST];

/* Unequal for all messages of all ranks. */
static int next_bytes(void) { return 1 + (serial++ * size + rank) % (MOST - 1); }

/* All to rank 0, which takes them in any order; an exact receive stands behind wildcards that may take what it takes.
 */
static void wildcards(MPI_Comm comm, int tag) {
  if (rank != 0) {
    for (int i = 0; i < 3; ++i) MPI_Send(out[0], next_bytes(), MPI_BYTE, 0, tag, comm);
    MPI_Ssend(out[0], next_bytes(), MPI_BYTE, 0, tag + 1, comm);
    return;
  }
  for (int round = 0; round < size - 1; ++round) {
    MPI_Request requests[3];
    MPI_Irecv(in[0], MOST, MPI_BYTE, MPI_ANY_SOURCE, tag, comm, &requests[0]);
    MPI_Irecv(in[1], MOST, MPI_BYTE, 1 + round, tag, comm, &requests[1]);
    MPI_Irecv(in[2], MOST, MPI_BYTE, 1 + round, MPI_ANY_TAG, comm, &requests[2]);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE); /* the last first */
    int done = 0;
    while (!done) MPI_Test(&requests[2], &done, MPI_STATUS_IGNORE);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  }
  for (int left = size - 1; left > 0; --left) {
    MPI_Status status;
    MPI_Recv(in[0], MOST, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
  }
}

/* Around a ring, in pairs that are received the other way round. */
static void ring(MPI_Comm comm) {
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  MPI_Request requests[4];
  MPI_Irecv(in[0], MOST, MPI_BYTE, left, 1, comm, &requests[0]);
  MPI_Irecv(in[1], MOST, MPI_BYTE, left, 1, comm, &requests[1]);
  MPI_Isend(out[0], next_bytes(), MPI_BYTE, right, 1, comm, &requests[2]);
  MPI_Isend(out[1], next_bytes(), MPI_BYTE, right, 1, comm, &requests[3]);
  MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  MPI_Sendrecv(out[0], next_bytes(), MPI_BYTE, right, 2, in[0], MOST, MPI_BYTE, left, 2, comm, MPI_STATUS_IGNORE);
  MPI_Sendrecv(out[0], next_bytes(), MPI_BYTE, MPI_PROC_NULL, 2, in[0], MOST, MPI_BYTE, MPI_PROC_NULL, 2, comm,
               MPI_STATUS_IGNORE);
}

static void persistent(MPI_Comm comm) {
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  MPI_Request requests[4];
  MPI_Recv_init(in[0], MOST, MPI_BYTE, left, 3, comm, &requests[0]);
  MPI_Recv_init(in[1], MOST, MPI_BYTE, MPI_ANY_SOURCE, 4, comm, &requests[1]);
  MPI_Send_init(out[0], next_bytes(), MPI_BYTE, right, 3, comm, &requests[2]);
  MPI_Send_init(out[1], next_bytes(), MPI_BYTE, right, 4, comm, &requests[3]);
  MPI_Startall(4, requests);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  MPI_Start(&requests[0]);
  MPI_Start(&requests[2]);
  MPI_Wait(&requests[2], MPI_STATUS_IGNORE);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  for (int i = 0; i < 4; ++i) MPI_Request_free(&requests[i]);
}

/* Rank 1 sends four to rank 0, which takes the first out by a matched probe and receives it last but one. */
static void probes(MPI_Comm comm) {
  if (rank == 1)
    for (int i = 0; i < 4; ++i) MPI_Send(out[0], next_bytes(), MPI_BYTE, 0, 5, comm);
  if (rank != 0) return;
  MPI_Status status;
  MPI_Message message;
  MPI_Probe(1, 5, comm, &status);
  MPI_Mprobe(MPI_ANY_SOURCE, 5, comm, &message, &status);
  MPI_Recv(in[0], MOST, MPI_BYTE, 1, 5, comm, MPI_STATUS_IGNORE);
  MPI_Mrecv(in[0], MOST, MPI_BYTE, &message, MPI_STATUS_IGNORE);
  int there = 0;
  while (!there) MPI_Improbe(1, MPI_ANY_TAG, comm, &there, &message, &status);
  MPI_Request request;
  MPI_Imrecv(in[0], MOST, MPI_BYTE, &message, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Recv(in[0], MOST, MPI_BYTE, 1, 5, comm, MPI_STATUS_IGNORE);
}

/* Receives that are cancelled take nothing. */
static void cancelled(MPI_Comm comm) {
  if (rank == 0) {
    MPI_Request request;
    MPI_Irecv(in[0], MOST, MPI_BYTE, 1, 6, comm, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Barrier(comm);
  if (rank == 1) MPI_Send(out[0], next_bytes(), MPI_BYTE, 0, 6, comm);
  if (rank == 0) MPI_Recv(in[0], MOST, MPI_BYTE, 1, 6, comm, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm other;
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  for (int round = atoi(argv[1]); round > 0; --round) {
    wildcards(MPI_COMM_WORLD, 10);
    ring(other);
    wildcards(other, 20);
    persistent(MPI_COMM_WORLD);
    probes(other);
    cancelled(MPI_COMM_WORLD);
    double value = 1, sum = 0;
    MPI_Request request;
    MPI_Iallreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, other, &request);
    MPI_Bcast(&value, 1, MPI_DOUBLE, round % size, other);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  printf("%d messages of rank %d\n", serial, rank);
  MPI_Comm_free(&other);
  MPI_Finalize();
  return 0;
}

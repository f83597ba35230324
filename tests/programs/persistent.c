/* persistent ROUNDS: two ranks exchange messages by persistent requests, which they start with MPI_Startall and complete,
   in random orders, with MPI_Waitall, MPI_Waitsome and MPI_Wait; prints "ok". A message of tag t has t + 1 doubles. One
   more request is never started. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { messages = 8, plain = 2 * messages, most = plain + 2 };
static double out[messages + 1][messages + 1], in[messages + 1][messages + 1];
static MPI_Request requests[most + 1]; /* behind the others: the one that is not started */
static unsigned state = 1;

static unsigned next(unsigned below) {
  state = state * 1664525u + 1013904223u;
  return (state >> 8) % below;
}

static void shuffle(MPI_Request* array, int n) {
  for (int i = n - 1; i > 0; i--) {
    const unsigned j = next((unsigned)i + 1);
    const MPI_Request other = array[i];
    array[i] = array[j];
    array[j] = other;
  }
}

static void complete(int how, MPI_Request* array, int n) {
  int left = n, done, indices[most];
  if (how == 0) {
    MPI_Waitall(n + 1, array, MPI_STATUSES_IGNORE);
  } else if (how == 1) {
    for (int i = 0; i <= n; i++) MPI_Wait(&array[i], MPI_STATUS_IGNORE);
  } else {
    for (; left > 0; left -= done) MPI_Waitsome(n + 1, array, &done, indices, MPI_STATUSES_IGNORE);
  }
}

int main(int argc, char** argv) {
  int rank, n = plain;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int rounds = argc > 1 ? atoi(argv[1]) : 1;
  const int other = 1 - rank;
  for (int t = 0; t < messages; t++) {
    MPI_Send_init(out[t], t + 1, MPI_DOUBLE, other, t, MPI_COMM_WORLD, &requests[2 * t]);
    MPI_Recv_init(in[t], t + 1, MPI_DOUBLE, t % 2 ? MPI_ANY_SOURCE : other, t, MPI_COMM_WORLD, &requests[2 * t + 1]);
  }
#if MPI_VERSION >= 4
  MPI_Request partitioned;
  MPI_Psend_init(out[messages], messages + 1, 1, MPI_DOUBLE, other, messages, MPI_COMM_WORLD, MPI_INFO_NULL, &partitioned);
  requests[n++] = partitioned;
  MPI_Precv_init(in[messages], messages + 1, 1, MPI_DOUBLE, other, messages, MPI_COMM_WORLD, MPI_INFO_NULL,
                 &requests[n++]);
#endif
  MPI_Send_init(out[0], 1, MPI_DOUBLE, other, 99, MPI_COMM_WORLD, &requests[n]);
  state += (unsigned)rank;
  for (int round = 0; round < rounds; round++) {
    shuffle(requests, n);
    MPI_Startall(n, requests);
#if MPI_VERSION >= 4
    MPI_Pready_range(0, messages, partitioned);
#endif
    shuffle(requests, n);
    complete(round % 3, requests, n);
  }
  for (int i = 0; i <= n; i++) MPI_Request_free(&requests[i]);
  MPI_Finalize();
  if (rank == 0) puts("ok");
  return 0;
}

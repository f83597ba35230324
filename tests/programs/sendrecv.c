/* sendrecv: two ranks send and receive in one call, in all ways; prints "ok". Tags tell the calls apart. */
#include <mpi.h>
#include <stdio.h>

static double out[100], in[100];
static int rank, peer;

static void fail(const char* what) {
  fprintf(stderr, "sendrecv: %s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void expect(const MPI_Status* status, int source, int tag, int count) {
  int received;
  MPI_Get_count(status, MPI_DOUBLE, &received);
  if (status->MPI_SOURCE != source || status->MPI_TAG != tag || received != count) fail("wrong status");
}

int main(int argc, char** argv) {
  MPI_Comm swapped;
  MPI_Status status;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  peer = 1 - rank;
  const int mine = 10 * (rank + 1), theirs = 10 * (peer + 1);

  MPI_Sendrecv(out, mine, MPI_DOUBLE, peer, 1, in, 100, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Sendrecv(out, mine, MPI_DOUBLE, peer, 2 + rank, in, 100, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
               &status);
  expect(&status, peer, 2 + peer, theirs);
  /* Rank 0 only sends, rank 1 only receives. */
  MPI_Sendrecv(out, mine, MPI_DOUBLE, rank == 0 ? 1 : MPI_PROC_NULL, 4, in, 100, MPI_DOUBLE,
               rank == 0 ? MPI_PROC_NULL : 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Sendrecv_replace(in, 5, MPI_DOUBLE, peer, 5, peer, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &swapped); /* ranks the other way round */
  MPI_Sendrecv(out, 1, MPI_DOUBLE, rank, 6, in, 1, MPI_DOUBLE, rank, 6, swapped, &status);
  expect(&status, rank, 6, 1);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (MPI_Sendrecv(out, 1, MPI_DOUBLE, 99, 7, in, 1, MPI_DOUBLE, 99, 7, MPI_COMM_WORLD, &status) == MPI_SUCCESS)
    fail("no error");
#if MPI_VERSION >= 4
  MPI_Request request;
  MPI_Isendrecv(out, mine, MPI_DOUBLE, peer, 8, in, 100, MPI_DOUBLE, MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Isendrecv_replace(in, 3, MPI_DOUBLE, peer, 9, peer, 9, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int i = 4; i < 7; i++) { /* later messages of the channel */
    if (rank == 0) MPI_Send(out, i, MPI_DOUBLE, 1, 9, MPI_COMM_WORLD);
    if (rank == 1) MPI_Recv(in, 100, MPI_DOUBLE, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
#endif
  MPI_Comm_free(&swapped);
  MPI_Finalize();
  if (rank == 0) puts("ok");
  return 0;
}

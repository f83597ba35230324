/* exchange: messages to and from known ranks in every way that there is; 2 ranks; prints "ok".
 *
 * tests/integration/test_peers.py knows what it sends: change both. Rank 0 and rank 1 do the same.
 */
#include <mpi.h>
#include <stdio.h>

enum { CELLS = 100 };
static double out[CELLS], in[CELLS]; /* 8 bytes each */

int main(int argc, char** argv) {
  MPI_Comm pair;
  MPI_Request requests[2];
  MPI_Win window;
  double* memory;
  int rank, peer;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  peer = 1 - rank;
  MPI_Comm_dup(MPI_COMM_WORLD, &pair);
  MPI_Comm_set_name(pair, "pair");

  /* On MPI_COMM_WORLD: 2 messages of 80 bytes each way, one of 40, and to itself one of 8. */
  for (int i = 0; i < 2; i++)
    MPI_Sendrecv(out, 10, MPI_DOUBLE, peer, 1, in, CELLS, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Irecv(in, CELLS, MPI_DOUBLE, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &requests[0]);
  MPI_Send(out, 5, MPI_DOUBLE, peer, 2, MPI_COMM_WORLD);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  MPI_Isend(out, 1, MPI_DOUBLE, rank, 3, MPI_COMM_WORLD, &requests[0]);
  MPI_Recv(in, CELLS, MPI_DOUBLE, rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  MPI_Send(out, 1, MPI_DOUBLE, MPI_PROC_NULL, 3, MPI_COMM_WORLD);
  MPI_Bcast(out, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD); /* no message to a peer */

  /* On "pair": persistent, 3 times 24 bytes each way; then matched by probes, 48 and 56 bytes. */
  MPI_Recv_init(in, CELLS, MPI_DOUBLE, peer, 4, pair, &requests[0]);
  MPI_Send_init(out, 3, MPI_DOUBLE, peer, 4, pair, &requests[1]);
  for (int i = 0; i < 3; i++) {
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);

  MPI_Message message;
  int found = 0;
  MPI_Isend(out, 6, MPI_DOUBLE, peer, 5, pair, &requests[0]);
  MPI_Isend(out, 7, MPI_DOUBLE, peer, 6, pair, &requests[1]);
  MPI_Mprobe(MPI_ANY_SOURCE, 5, pair, &message, MPI_STATUS_IGNORE);
  MPI_Mrecv(in, CELLS, MPI_DOUBLE, &message, MPI_STATUS_IGNORE);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  while (!found) MPI_Improbe(peer, MPI_ANY_TAG, pair, &found, &message, MPI_STATUS_IGNORE);
  MPI_Imrecv(in, CELLS, MPI_DOUBLE, &message, &requests[0]);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);

  /* One-sided: 16 bytes put, 32 got. */
  MPI_Win_allocate(CELLS * sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  MPI_Win_fence(0, window);
  MPI_Put(out, 2, MPI_DOUBLE, peer, 0, 2, MPI_DOUBLE, window);
  MPI_Get(in, 4, MPI_DOUBLE, peer, 8, 4, MPI_DOUBLE, window);
  MPI_Win_fence(0, window);
  MPI_Win_free(&window);

  MPI_Comm_free(&pair);
  if (rank == 0) printf("ok\n");
  MPI_Finalize();
  return 0;
}

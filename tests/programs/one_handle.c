/* one_handle N: requests of which MPI may give several one handle, as they are complete when they are started, among
 * others that are not; one rank. Prints "ok".
 *
 * usage: one_handle N
 *   ROUNDS rounds of MPI_Isend and MPI_Irecv with MPI_PROC_NULL, N each, and a message to itself from two places,
 *   completed by MPI_Waitall; the same completed while measuring is paused (MPI_Waitall, too), and the same started
 *   while it is paused, of which MPI_Waitsome completes some of before and after; a persistent request started in turn
 *   while it is paused and not, each time completed by MPI_Wait.
 * tests/integration/test_requests.py knows these numbers.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 4, COUNT = 3 };

static double in[COUNT], out[COUNT];
static MPI_Request* requests;
static int used;

static void send_nobody(int n) {
  for (int i = 0; i < n; i++) MPI_Isend(out, COUNT, MPI_DOUBLE, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &requests[used++]);
}
static void receive_nobody(int n) {
  for (int i = 0; i < n; i++) MPI_Irecv(in, COUNT, MPI_DOUBLE, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &requests[used++]);
}
static void message(int tag) {
  MPI_Irecv(in, COUNT, MPI_DOUBLE, 0, tag, MPI_COMM_WORLD, &requests[used++]);
  MPI_Isend(out, COUNT, MPI_DOUBLE, 0, tag, MPI_COMM_WORLD, &requests[used++]);
}
static void start(int n) {
  used = 0;
  message(2);
  send_nobody(n);
  message(3);
  receive_nobody(n);
}
static void wait_all(void) { MPI_Waitall(used, requests, MPI_STATUSES_IGNORE); }

int main(int argc, char** argv) {
  const int n = argc > 1 ? atoi(argv[1]) : 1;
  int done, *indices = malloc((2 * (size_t)n + 8) * sizeof *indices);
  requests = malloc((2 * (size_t)n + 8) * sizeof *requests);
  MPI_Init(&argc, &argv);
  for (int round = 0; round < ROUNDS; round++) {
    start(n);
    wait_all();
    start(n); /* completed while paused */
    MPI_Pcontrol(0);
    wait_all();
    start(n); /* started while paused, and completed so in part */
    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
    MPI_Pcontrol(1);
    MPI_Isend(out, COUNT, MPI_DOUBLE, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &requests[0]);
    for (int left = used - n + 1; left > 0; left -= done)
      MPI_Waitsome(used, requests, &done, indices, MPI_STATUSES_IGNORE);
  }
  MPI_Request persistent;
  MPI_Recv_init(in, COUNT, MPI_DOUBLE, 0, 4, MPI_COMM_WORLD, &persistent);
  for (int i = 0; i < 2 * ROUNDS; i++) {
    if (i % 2 == 0) MPI_Pcontrol(0);
    MPI_Start(&persistent);
    MPI_Pcontrol(1);
    MPI_Send(out, COUNT, MPI_DOUBLE, 0, 4, MPI_COMM_WORLD);
    MPI_Wait(&persistent, MPI_STATUS_IGNORE);
  }
  MPI_Request_free(&persistent);
  puts("ok");
  MPI_Finalize();
  free(requests);
  free(indices);
  return 0;
}

/* lateness COUNT: between two ranks, COUNT times each, a receive that is posted LATE_MS after its message was sent, one
 * that is waited for so late, and a message that is sent so late. Which came first is made sure by further messages. */
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

enum { late_us = 20000, unposted = 101, unwaited = 102, sent_late = 103 };
static char buffer[128], other;

static void say(int to) { MPI_Send(&other, 1, MPI_BYTE, to, 0, MPI_COMM_WORLD); }
static void hear(int from) { MPI_Recv(&other, 1, MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }

static void sender(void) {
  MPI_Send(buffer, unposted, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
  say(1);
  hear(1);
  MPI_Send(buffer, unwaited, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
  say(1);
  hear(1);
  usleep(late_us);
  MPI_Send(buffer, sent_late, MPI_BYTE, 1, 1, MPI_COMM_WORLD); /* the late one */
}

static void receiver(void) {
  MPI_Request request;
  hear(0);
  usleep(late_us);
  MPI_Recv(buffer, unposted, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* not posted */
  MPI_Irecv(buffer, unwaited, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &request);         /* not waited for */
  say(0);
  hear(0);
  usleep(late_us);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  say(0);
  MPI_Recv(buffer, sent_late, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = argc > 1 ? atoi(argv[1]) : 1; i > 0; --i) rank == 0 ? sender() : receiver();
  MPI_Finalize();
  return 0;
}

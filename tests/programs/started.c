/* started COUNT: persistent requests started together, COUNT times each between two ranks: three of a channel each, two
 * sends of one channel, two receives of one, and a receive of any tag beside one of a tag. Then MPI_Isendrecv, and how
 * many messages that has exchanged is printed. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { most = 3 };
static char buffers[most][16];
static int rank;

static void init_all(int count, const int* tags, int sends, MPI_Request* requests) {
  for (int i = 0; i < count; ++i)
    if (sends)
      MPI_Send_init(buffers[i], 8 + i, MPI_BYTE, 1, tags[i], MPI_COMM_WORLD, &requests[i]);
    else
      MPI_Recv_init(buffers[i], 16, MPI_BYTE, 0, tags[i], MPI_COMM_WORLD, &requests[i]);
}

static void one_after_another(int count, const int* tags) {
  for (int i = 0; i < count; ++i)
    if (rank == 0)
      MPI_Send(buffers[i], 8 + i, MPI_BYTE, 1, tags[i], MPI_COMM_WORLD);
    else
      MPI_Recv(buffers[i], 16, MPI_BYTE, 0, tags[i], MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Both ways by one request, where the MPI has that; gives how many messages that were. */
static int exchange_by_one(int times) {
#if MPI_VERSION >= 4
  MPI_Request request;
  for (int i = 0; i < times; ++i) {
    MPI_Isendrecv(buffers[0], 8 + i % 8, MPI_BYTE, 1 - rank, 7, buffers[1], 16, MPI_BYTE, 1 - rank, 7, MPI_COMM_WORLD,
                  &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  return 2 * times;
#else
  (void)times;
  return 0;
#endif
}

/* The rank `together` (2: both) starts all at once; the other sends, or receives, by single calls. */
static void exchange(int times, int together, int count, const int* sent, const int* received) {
  MPI_Request requests[most];
  const int starts = together == 2 || together == rank;
  if (starts) init_all(count, rank == 0 ? sent : received, rank == 0, requests);
  for (int i = 0; i < times; ++i) {
    if (starts) {
      MPI_Startall(count, requests);
      MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    } else {
      one_after_another(count, rank == 0 ? sent : received);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  for (int i = 0; starts && i < count; ++i) MPI_Request_free(&requests[i]);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int times = argc > 1 ? atoi(argv[1]) : 1;
  const int apart[] = {1, 2, 3}, same[] = {4, 4}, wild[] = {MPI_ANY_TAG, 5}, other[] = {6, 5};
  exchange(times, 2, 3, apart, apart);
  exchange(times, 0, 2, same, same);
  exchange(times, 1, 2, same, same);
  exchange(times, 1, 2, other, wild);
  const int by_one = exchange_by_one(times);
  if (rank == 0) printf("%d\n", by_one);
  MPI_Finalize();
  return 0;
}

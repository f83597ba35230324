/* A program to weigh tools with. usage: weighed alone|requests|held SECONDS
 *
 * alone     each iteration computes 2 us, then exchanges with MPI_PROC_NULL: what a call costs more is what an iteration
 *           takes longer. Prints how many ns an iteration takes without tools
 * requests  a ring of messages, completed in every way that MPI has
 * held      the same, while a receive is under way from the first iteration on
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { COMPUTED_NS = 2000, WAYS = 10, FIRST = 11, HELD = 12 };

static int rank, size;
static char outgoing[64], incoming[64];
static MPI_Request persistent[2];

static long now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000L + time.tv_nsec;
}

static void compute(void) {
  const long end = now_ns() + COMPUTED_NS;
  while (now_ns() < end) {
  }
}

typedef int Exchange(const void*, int, MPI_Datatype, int, int, void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status*);

static void call(Exchange* function) {
  compute();
  function(outgoing, 8, MPI_BYTE, MPI_PROC_NULL, 0, incoming, 8, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD,
           MPI_STATUS_IGNORE);
}

/* How many ns an iteration takes past a tool, and through it. The shortest of several times: others are those of
   interruptions. */
static void tell_iterations(void) {
  enum { TIMES = 100, ITERATIONS = 500 };
  Exchange* const functions[] = {PMPI_Sendrecv, MPI_Sendrecv};
  long best[] = {-1, -1};
  for (int time = 0; time < TIMES; time++)
    for (int way = 0; way < 2; way++) {
      const long begin = now_ns();
      for (int i = 0; i < ITERATIONS; i++) call(functions[way]);
      const long took = now_ns() - begin;
      if (best[way] < 0 || took < best[way]) best[way] = took;
    }
  printf("bare %.1f through %.1f\n", (double)best[0] / ITERATIONS, (double)best[1] / ITERATIONS);
}

static void complete(int way, MPI_Request requests[2]) {
  int done = 0, index = 0, indices[2];
  switch (way) {
    case 0:
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
      break;
    case 1:
      for (int i = 0; i < 2; i++) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
      break;
    case 2:
      for (int i = 0; i < 2; i++) MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
      break;
    case 3:
      for (int left = 2; left > 0; left -= done) MPI_Waitsome(2, requests, &done, indices, MPI_STATUSES_IGNORE);
      break;
    case 4:
      for (int i = 0; i < 2; i++)
        for (done = 0; !done;) MPI_Test(&requests[i], &done, MPI_STATUS_IGNORE);
      break;
    case 5:
      while (!done) MPI_Testall(2, requests, &done, MPI_STATUSES_IGNORE);
      break;
    case 6:
      for (int left = 2; left > 0; left -= done) MPI_Testany(2, requests, &index, &done, MPI_STATUS_IGNORE);
      break;
    default:
      for (int left = 2; left > 0; left -= done) MPI_Testsome(2, requests, &done, indices, MPI_STATUSES_IGNORE);
  }
}

static void exchange(long iteration) {
  const int next = (rank + 1) % size, last = (rank + size - 1) % size, way = (int)(iteration % WAYS);
  if (way >= 8) {
    MPI_Startall(2, persistent);
    complete(way == 8 ? 0 : 5, persistent);
    return;
  }
  MPI_Request requests[2];
  MPI_Irecv(incoming, sizeof incoming, MPI_BYTE, last, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(outgoing, sizeof outgoing, MPI_BYTE, next, 0, MPI_COMM_WORLD, &requests[1]);
  complete(way, requests);
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const char* mode = argv[1];
  const double seconds = atof(argv[2]);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Request held = MPI_REQUEST_NULL;
  char never;
  const int next = (rank + 1) % size, last = (rank + size - 1) % size;
  MPI_Recv_init(incoming, sizeof incoming, MPI_BYTE, last, FIRST, MPI_COMM_WORLD, &persistent[0]);
  MPI_Send_init(outgoing, sizeof outgoing, MPI_BYTE, next, FIRST, MPI_COMM_WORLD, &persistent[1]);
  if (strcmp(mode, "held") == 0) MPI_Irecv(&never, 1, MPI_BYTE, last, HELD, MPI_COMM_WORLD, &held);
  double until = MPI_Wtime() + seconds;
  for (long iteration = 0;; iteration++) {
    if (strcmp(mode, "alone") == 0)
      call(MPI_Sendrecv);
    else
      exchange(iteration);
    if (iteration % 200 != 199) continue;
    int goes_on = MPI_Wtime() < until, all = 0;
    MPI_Allreduce(&goes_on, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (!all) break;
    if (iteration % 20000 != 19999) continue;
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_free(&copy);
  }
  if (held != MPI_REQUEST_NULL) {
    MPI_Send(&never, 1, MPI_BYTE, next, HELD, MPI_COMM_WORLD);
    MPI_Wait(&held, MPI_STATUS_IGNORE);
  }
  if (strcmp(mode, "alone") == 0) tell_iterations();
  for (int i = 0; i < 2; i++) MPI_Request_free(&persistent[i]);
  MPI_Finalize();
  return 0;
}

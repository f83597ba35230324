/* Each rank computes for 10 ms of processor time before each of 20 barriers; rank 1 sleeps for 15 ms as well. With an
 * argument, it kills itself at the end. */
#include <mpi.h>
#include <signal.h>
#include <time.h>

static long processor_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1000000000L + now.tv_nsec;
}

static void compute(long ms) {
  const long until = processor_ns() + ms * 1000000L;
  while (processor_ns() < until);
}

int main(int argc, char** argv) {
  const struct timespec nap = {0, 15000000};
  int rank = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int step = 0; step < 20; ++step) {
    compute(10);
    if (rank == 1) nanosleep(&nap, NULL);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  if (argc > 1) raise(SIGKILL);
  MPI_Finalize();
  return 0;
}

/* Each rank computes for 10 ms of processor time before each of 20 barriers; rank 1 sleeps for 15 ms as well, and
 * writes a byte to a file before and after that. With an argument, it kills itself at the end. */
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static long processor_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1000000000L + now.tv_nsec;
}

static void compute(long ms) {
  const long until = processor_ns() + ms * 1000000L;
  while (processor_ns() < until)
    ;
}

int main(int argc, char** argv) {
  const struct timespec nap = {0, 15000000};
  char name[] = "/tmp/off-processor-XXXXXX";
  int rank = 0, written = 0;
  const int file = mkstemp(name);
  unlink(name);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int step = 0; step < 20; ++step) {
    compute(10);
    if (rank == 1) {
      written += write(file, "x", 1) == 1;
      nanosleep(&nap, NULL);
      written += write(file, "x", 1) == 1;
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  if (rank == 1 && written != 40) MPI_Abort(MPI_COMM_WORLD, 2);
  if (argc > 1) raise(SIGKILL);
  MPI_Finalize();
  return 0;
}

/* instant: prints how long MPI_Init and MPI_Finalize took, and a first getrusage(), in ns. */
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

int MPI_Init(int*, char***);
int MPI_Finalize(void);

static long now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000L + time.tv_nsec;
}

int main(void) {
  now_ns();
  long start = now_ns();
  MPI_Init(0, 0);
  long middle = now_ns();
  MPI_Finalize();
  const long end = now_ns();
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  printf("%ld %ld %ld\n", middle - start, end - middle, now_ns() - end);
  return 0;
}

/* timed: sleeps SLEEP_MS between MPI's beginning and end; prints the rank and what it measured itself, in ns.
 *
 * usage: timed init|thread|session|fork
 *   session  without MPI_Init: two sessions, one within the other
 *   fork     a child is forked inside, which ends with exit()
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SLEEP_MS = 100 };

static long now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000L + time.tv_nsec;
}

#if MPI_VERSION >= 4
static int sessions(void) {
  MPI_Session session[2];
  for (int i = 0; i < 2; i++)
    if (MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session[i]) != MPI_SUCCESS) return 1;
  usleep(1000 * SLEEP_MS);
  for (int i = 0; i < 2; i++) MPI_Session_finalize(&session[i]);
  printf("0 0 0 0\n");
  return 0;
}
#endif

int main(int argc, char** argv) {
  const char* mode = argc > 1 ? argv[1] : "init";
  int rank, provided;
#if MPI_VERSION >= 4
  if (!strcmp(mode, "session")) return sessions();
#endif
  long start = now_ns();
  if (!strcmp(mode, "thread"))
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  else
    MPI_Init(&argc, &argv);
  long begin = now_ns();
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (!strcmp(mode, "fork")) {
    pid_t child = fork();
    if (child == 0) exit(0);
    waitpid(child, NULL, 0);
  }
  usleep(1000 * SLEEP_MS);
  long end = now_ns();
  MPI_Finalize();
  long finish = now_ns();
  printf("%d %ld %ld %ld\n", rank, begin - start, end - begin, finish - end);
  return 0;
}

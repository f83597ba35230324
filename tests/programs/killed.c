/* killed: makes a known number of calls, and dies by SIGKILL or is killed.
 *
 * usage: killed one|all     SENDS MPI_Send to MPI_PROC_NULL and ALLREDUCES MPI_Allreduce on each rank;
 *                           then the last rank, or every rank, kills itself
 *        killed alive [S]   the same calls; S seconds later a last barrier, and ends as it should
 *        killed many        MANY MPI_Send of ever changing size and tag, then ends as it should: "ok"
 *        killed forever FILE   MPI_Send until killed; FILE.RANK, mapped, holds the process id and the
 *                           number of calls that have returned
 * tests/integration/test_survival.py knows these numbers.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SENDS = 3000, ALLREDUCES = 20, MANY = 1500000, BURST = 10, PAUSE_US = 50, BUFFER = 1024 };

typedef struct {
  int64_t pid;
  volatile int64_t returned;
} Progress;

static char buffer[BUFFER];
static int rank, size;

static void known_calls(void) {
  double one = 1.0, sum;
  for (int i = 0; i < ALLREDUCES; i++) MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < SENDS; i++) MPI_Send(buffer, 1, MPI_BYTE, MPI_PROC_NULL, i, MPI_COMM_WORLD);
}

static void many_calls(void) {
  uint32_t random = 1;
  for (int i = 0; i < MANY; i++) {
    random = random * 1664525u + 1013904223u;
    MPI_Send(buffer, (int)(random >> 22), MPI_BYTE, MPI_PROC_NULL, (int)(random >> 8 & 0x3fff), MPI_COMM_WORLD);
  }
}

static Progress* share(const char* file) {
  char path[4096], done[4096];
  snprintf(done, sizeof done, "%s.%d", file, rank);
  snprintf(path, sizeof path, "%s.%d.new", file, rank);
  int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
  if (fd < 0 || ftruncate(fd, sizeof(Progress)) != 0) return NULL;
  Progress* progress = mmap(NULL, sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (progress == MAP_FAILED) return NULL;
  close(fd);
  progress->pid = getpid();
  return rename(path, done) == 0 ? progress : NULL;
}

static void calls_forever(Progress* progress) {
  for (;;) {
    for (int i = 0; i < BURST; i++) {
      MPI_Send(buffer, 1, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
      progress->returned++;
    }
    usleep(PAUSE_US);
  }
}

int main(int argc, char** argv) {
  const char* mode = argc > 1 ? argv[1] : "";
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (!strcmp(mode, "one") || !strcmp(mode, "all")) {
    known_calls();
    MPI_Barrier(MPI_COMM_WORLD);
    if (!strcmp(mode, "all") || rank == size - 1) kill(getpid(), SIGKILL);
    for (;;) pause();
  }
  if (!strcmp(mode, "alive")) {
    known_calls();
    if (argc > 2) sleep((unsigned)atoi(argv[2]));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
  }
  if (!strcmp(mode, "many")) {
    many_calls();
    if (rank == 0) printf("ok\n");
    MPI_Finalize();
    return 0;
  }
  Progress* progress = !strcmp(mode, "forever") && argc > 2 ? share(argv[2]) : NULL;
  if (progress) calls_forever(progress);
  fprintf(stderr, "usage: killed one|all|alive|many|forever FILE\n");
  MPI_Abort(MPI_COMM_WORLD, 2);
}

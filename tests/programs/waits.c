/* Wait states of known places and sizes: waits KIND MILLISECONDS. The rank that is late sleeps in the line that is
 * marked `delay`; the others wait in the line marked `waits`. Two ranks or more; what each does not do is written to
 * stdout. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MANY (1 << 22)

static int rank, size;
static const char* directory;

static void be_late(int late, int ms) {
  char path[4096];
  for (int other = 0; other < size; ++other) {
    snprintf(path, sizeof path, "%s/%d", directory, other);
    if (rank != late && rank == other) fclose(fopen(path, "w"));
    while (rank == late && rank != other && access(path, F_OK) != 0) usleep(1000);
  }
  if (rank != late) return;
  const struct timespec span = {ms / 1000, ms % 1000 * 1000000L};
  nanosleep(&span, NULL);
}

int main(int argc, char** argv) {
  static char data[MANY];
  double value = 1, sum = 0;
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char* kind = argv[1];
  const int ms = atoi(argv[2]);
  directory = argv[3];
  MPI_Barrier(MPI_COMM_WORLD);
  if (strcmp(kind, "late sender") == 0) {
    be_late(0, ms);
    if (rank == 0) MPI_Send(data, 8, MPI_BYTE, 1, 1, MPI_COMM_WORLD);                                 /* delay */
    if (rank == 1) MPI_Recv(data, 8, MPI_BYTE, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* waits */
  } else if (strcmp(kind, "late receiver") == 0) {
    be_late(0, ms);
    if (rank == 1) MPI_Send(data, MANY, MPI_BYTE, 0, 1, MPI_COMM_WORLD);                    /* waits */
    if (rank == 0) MPI_Recv(data, MANY, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* delay */
  } else if (strcmp(kind, "wait at barrier") == 0) {
    be_late(1, ms);
    MPI_Barrier(MPI_COMM_WORLD); /* delay waits */
  } else if (strcmp(kind, "wait at NxN") == 0) {
    MPI_Iallreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    be_late(1, ms);
    MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); /* delay waits */
  } else if (strcmp(kind, "late broadcast") == 0) {
    be_late(0, ms);
    MPI_Bcast(&value, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD); /* delay waits */
  } else if (strcmp(kind, "early reduce") == 0) {
    be_late(1, ms);
    MPI_Reduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD); /* delay waits */
  }
  MPI_Finalize();
  return 0;
}

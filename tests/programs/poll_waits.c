/* poll_waits MILLISECONDS [improbe]: rank 1 waits for rank 0 by polling, which sends after that many milliseconds, three
 * times: it spins in MPI_Test; it spins in MPI_Iprobe and MPI_Test in turn; it computes 50 microseconds before each
 * MPI_Test. With `improbe` it spins in MPI_Improbe, once. Rank 1 prints as JSON the seconds that it span, and those of the
 * processor's time in them, and the seconds that it computed.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double seconds(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double wall, cpu, computed;

static void spin_matching(void) {
  int flag = 0;
  char in;
  MPI_Message message;
  const double begin = seconds(CLOCK_MONOTONIC), cpu_begin = seconds(CLOCK_THREAD_CPUTIME_ID);
  while (!flag) MPI_Improbe(0, 1, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE);
  cpu += seconds(CLOCK_THREAD_CPUTIME_ID) - cpu_begin;
  wall += seconds(CLOCK_MONOTONIC) - begin;
  MPI_Mrecv(&in, 1, MPI_CHAR, &message, MPI_STATUS_IGNORE);
}

static void spin(int probes) {
  int flag = 0, other;
  char in;
  MPI_Request request;
  MPI_Irecv(&in, 1, MPI_CHAR, 0, 1, MPI_COMM_WORLD, &request);
  const double begin = seconds(CLOCK_MONOTONIC), cpu_begin = seconds(CLOCK_THREAD_CPUTIME_ID);
  if (probes) {
    do {
      MPI_Iprobe(0, 2, MPI_COMM_WORLD, &other, MPI_STATUS_IGNORE);
      MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    } while (!flag);
  } else {
    while (!flag) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  }
  cpu += seconds(CLOCK_THREAD_CPUTIME_ID) - cpu_begin;
  wall += seconds(CLOCK_MONOTONIC) - begin;
}

static void compute(void) {
  int flag = 0;
  char in;
  MPI_Request request;
  MPI_Irecv(&in, 1, MPI_CHAR, 0, 1, MPI_COMM_WORLD, &request);
  while (!flag) {
    const double begin = seconds(CLOCK_MONOTONIC);
    double now;
    while ((now = seconds(CLOCK_MONOTONIC)) < begin + 50e-6);
    computed += now - begin;
    MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  }
}

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const long ms = argc > 1 ? atol(argv[1]) : 1;
  char out = 0;
  const int matching = argc > 2;
  for (int part = 0; part < (matching ? 1 : 3); part++) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
      const struct timespec pause = {ms / 1000, ms % 1000 * 1000000};
      nanosleep(&pause, NULL);
      MPI_Send(&out, 1, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
    } else if (matching) {
      spin_matching();
    } else if (part < 2) {
      spin(part);
    } else {
      compute();
    }
  }
  if (rank == 1) printf("{\"span_s\": %.9f, \"cpu_s\": %.9f, \"computed_s\": %.9f}\n", wall, cpu, computed);
  MPI_Finalize();
  return 0;
}

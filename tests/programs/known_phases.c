/* usage: known_phases KIND : a program whose phases and iterations are known; sleeping stands for computing.
 *   phases    set-up, 150 steps of a solver, 12 outputs, 150 steps again
 *   nested    12 steps of 40 inner ones
 *   slow      100 steps, of which rank 1 computes long in one, number 60
 *   single    300 steps
 *   straight  five calls, none of them again
 * Rank 0 prints when each part began: its name, and Unix time in ns. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define WORLD MPI_COMM_WORLD

static int rank, size;
static double value = 1, sum;
static double all[256];

static void compute(double ms) {
  const struct timespec time = {0, (long)(ms * 1e6)};
  nanosleep(&time, NULL);
}

static void part(const char* name) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (rank == 0) printf("%s %lld\n", name, (long long)now.tv_sec * 1000000000 + now.tv_nsec);
}

static void exchange(void) {
  MPI_Sendrecv(&value, 1, MPI_DOUBLE, (rank + 1) % size, 0, all, 1, MPI_DOUBLE, (rank + size - 1) % size, 0, WORLD,
               MPI_STATUS_IGNORE);
}

static void solve(int steps) {
  for (int step = 0; step < steps; ++step) {
    compute(1);
    exchange();
    MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, WORLD);
  }
}

static void phases(void) {
  part("setup");
  for (int i = 0; i < 20; ++i) {
    compute(3);
    MPI_Bcast(&value, 1, MPI_DOUBLE, 0, WORLD); /* setup */
  }
  part("solver");
  solve(150);
  part("output");
  for (int i = 0; i < 12; ++i) {
    compute(10);
    MPI_Gather(&value, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, 0, WORLD); /* output */
    MPI_Barrier(WORLD);
  }
  part("solver");
  solve(150);
}

static void nested(void) {
  for (int step = 0; step < 12; ++step) {
    compute(4);
    MPI_Bcast(&value, 1, MPI_DOUBLE, 0, WORLD); /* outer */
    for (int inner = 0; inner < 40; ++inner) {
      compute(0.3);
      MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, WORLD);
    }
  }
}

static void slow(void) {
  for (int step = 0; step < 100; ++step) {
    compute(3);
    exchange();
    if (step == 60 && rank == 1) compute(400);
    compute(1);
    MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, WORLD); /* slow */
  }
}

static void straight(void) {
  compute(20);
  MPI_Bcast(&value, 1, MPI_DOUBLE, 0, WORLD);
  compute(20);
  MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, WORLD);
  compute(20);
  MPI_Gather(&value, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, 0, WORLD);
  compute(20);
  MPI_Barrier(WORLD);
  compute(20);
  MPI_Reduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, WORLD);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(WORLD, &rank);
  MPI_Comm_size(WORLD, &size);
  const char* kind = argc > 1 ? argv[1] : "";
  if (strcmp(kind, "phases") == 0) phases();
  if (strcmp(kind, "nested") == 0) nested();
  if (strcmp(kind, "slow") == 0) slow();
  if (strcmp(kind, "single") == 0) solve(300);
  if (strcmp(kind, "straight") == 0) straight();
  MPI_Finalize();
  return 0;
}

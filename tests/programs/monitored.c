/* usage: monitored MODE COUNT [FILE] : iterations whose profile is known, with the offload points of a monitored run.
 *   points    COUNT iterations; tare_offload() ends each
 *   pcontrol  the same with MPI_Pcontrol(3)
 *   region    the same without; iterations are entries of the region "step"
 *   calls     iterations until FILE is there, in which the clock makes points; COUNT microseconds of work in each
 *   steps     iterations until FILE is there; COUNT microseconds of work in each, and tare_offload() ends it
 *   uneven    iterations until FILE is there; rank 1 works COUNT microseconds before each, and the others wait for it
 *   deadlock  as points; then each rank receives from the next one, which sends nothing
 *   apart     as calls, but ranks do not wait for one another
 *   absent    as apart, but rank 1 makes no MPI call until FILE is there
 *   hang      as points; then rank 1 waits for ever, the others make points until they are killed
 *   kill      as hang, but rank 1 kills itself
 *   quiet     as points; then no rank calls MPI any more until FILE is there
 * In an iteration each rank makes one MPI_Allreduce of 8 bytes, enters "step" once, and sets the counter "residual" to
 * the number of iterations. Prints "ok". */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tare/tare.h>
#include <unistd.h>

static tare_id step, residual;
static int iterations, rank, size;

static void iterate(MPI_Comm comm) {
  double in = 1, out = 0;
  tare_enter(step);
  MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, comm);
  tare_count(residual, ++iterations);
  tare_leave(step);
}

static int is_there(const char* file) { return access(file, F_OK) == 0; }

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const char* mode = argc > 1 ? argv[1] : "points";
  const int count = argc > 2 ? atoi(argv[2]) : 100;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  step = tare_define_region("step");
  residual = tare_define_counter("residual", "m");
  if (!strcmp(mode, "calls")) {
    int all_see = 0;
    while (!all_see) {
      const int seen = is_there(argv[3]);
      usleep((unsigned)count);
      MPI_Allreduce(&seen, &all_see, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    }
  } else if (!strcmp(mode, "steps")) {
    int all_see = 0;
    while (!all_see) {
      const int seen = is_there(argv[3]);
      usleep((unsigned)count);
      MPI_Allreduce(&seen, &all_see, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
      tare_offload();
    }
  } else if (!strcmp(mode, "uneven")) {
    int all_see = 0;
    while (!all_see) {
      const int seen = is_there(argv[3]);
      if (rank == 1) usleep((unsigned)count);
      iterate(MPI_COMM_WORLD);
      MPI_Allreduce(&seen, &all_see, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    }
  } else if (!strcmp(mode, "apart") || !strcmp(mode, "absent")) {
    const int comes = strcmp(mode, "absent") || rank != 1;
    while (!is_there(argv[3])) {
      usleep((unsigned)count);
      if (comes) iterate(MPI_COMM_SELF);
    }
  } else {
    for (int i = 0; i < count; ++i) {
      iterate(MPI_COMM_WORLD);
      if (!strcmp(mode, "pcontrol")) MPI_Pcontrol(3);
      else if (strcmp(mode, "region")) tare_offload();
    }
  }
  if (!strcmp(mode, "quiet"))
    while (!is_there(argv[3])) usleep(1000);
  if (!strcmp(mode, "deadlock")) MPI_Recv(&size, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (!strcmp(mode, "hang") || !strcmp(mode, "kill")) {
    /* Some launchers kill the others at once: they have made their points by then. */
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1 && !strcmp(mode, "kill")) raise(SIGKILL);
    for (;;) {
      if (rank == 1) pause();
      iterate(MPI_COMM_SELF);
      tare_offload();
      usleep(1000);
    }
  }
  printf("ok\n");
  MPI_Finalize();
  return 0;
}

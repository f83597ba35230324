/* paused: two ranks; rank 0 sends 2 messages that are recorded, and 4 that are not, because it or rank 1 pauses; by
 * tare_pause, or, with an argument, by MPI_Pcontrol. tests/integration/test_pauses.py knows what it does. */
#include <mpi.h>
#include <stdio.h>

#include "tare/tare.h"

static int by_mpi, rank;

static void pause_here(void) {
  if (by_mpi)
    MPI_Pcontrol(0);
  else
    tare_pause();
}
static void resume(void) {
  if (by_mpi)
    MPI_Pcontrol(1);
  else
    tare_resume();
}
static void flush(void) {
  if (by_mpi)
    MPI_Pcontrol(2);
  else
    tare_flush();
}

/* One by a blocking receive or one by a request; with an event on either side. */
static void message(tare_id marker, int started) {
  int value = 7;
  tare_mark(marker);
  if (rank == 0) {
    MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  } else if (started) {
    MPI_Request request;
    MPI_Irecv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  by_mpi = argc > 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const tare_id marker = tare_define_marker("message");
  message(marker, 0);
  for (int who = 0; who < 2; ++who) {
    if (rank == who) pause_here();
    message(marker, 0);
    message(marker, 1);
    if (rank == who) resume();
  }
  flush();
  message(marker, 1);
  printf("ok\n");
  MPI_Finalize();
  return 0;
}

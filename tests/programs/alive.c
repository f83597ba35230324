// A program that is looked at before it ends: `alive ROUNDS` makes so many rounds and then waits for a message that
// nobody sends; `alive` makes one round after another, until it is killed.
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

enum { round_us = 2000, tag = 7 };

static void make_round(int rank, int ranks) {
  double sum = rank;
  double in = 0;
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Sendrecv(&sum, 1, MPI_DOUBLE, (rank + 1) % ranks, tag, &in, 1, MPI_DOUBLE, (rank + ranks - 1) % ranks, tag,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int rounds = argc > 1 ? atoi(argv[1]) : -1;
  for (int i = 0; i != rounds; ++i) {
    make_round(rank, ranks);
    if (rounds < 0) usleep(round_us);
  }
  int value = 0;
  MPI_Recv(&value, 1, MPI_INT, (rank + 1) % ranks, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Finalize();
}

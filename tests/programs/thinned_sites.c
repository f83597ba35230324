/* usage: thinned_sites ROUNDS : in each round messages around the ring from two call sites, of which one is passed in some
 * rounds only, a collective of the rank alone and one of all ranks. Prints "ok" where all data were right. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { often = 4, seldom = 3, shorts = 16, longs = 1000 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rounds = argc > 1 ? atoi(argv[1]) : 1000;
  int rank, size, wrong = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  static int in[longs], out[longs];
  for (int round = 0; round < rounds; ++round) {
    out[0] = round;
    for (int i = 0; i < often; ++i) {
      MPI_Sendrecv(out, shorts, MPI_INT, right, 0, in, shorts, MPI_INT, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* often */
      wrong += in[0] != round;
    }
    int sum = 0;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF); /* alone */
    wrong += sum != rank;
    if (round % 3 == 0)
      for (int i = 0; i < seldom; ++i) {
        MPI_Sendrecv(out, longs, MPI_INT, right, 1, in, longs, MPI_INT, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* seldom */
        wrong += in[0] != round;
      }
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /* end */
    wrong += sum != size * (size - 1) / 2;
  }
  if (wrong == 0) printf("ok\n");
  MPI_Finalize();
  return wrong != 0;
}

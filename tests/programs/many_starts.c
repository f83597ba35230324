/*
 * Messages of a rank to itself: MPI_Irecv, MPI_Isend, MPI_Waitall; every other one is larger.
 *
 * usage: many_starts ROUNDS
 */
#include <mpi.h>
#include <stdlib.h>

enum { SMALL = 8, LARGE = 800 };

int main(int argc, char** argv) {
  static char in[LARGE];
  static char out[LARGE];
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int rounds = argc > 1 ? atoi(argv[1]) : 0;
  for (int i = 0; i < rounds; ++i) {
    MPI_Request requests[2];
    MPI_Irecv(in, LARGE, MPI_BYTE, rank, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, i % 2 == 0 ? SMALL : LARGE, MPI_BYTE, rank, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  MPI_Finalize();
  return 0;
}

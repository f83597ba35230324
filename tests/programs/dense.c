/* dense PHASES CALLS ROUNDS: in each phase a rank first does nothing but send CALLS messages to itself, and then computes
   and meets the others ROUNDS times. The calls of the first phase come before all collectives. Prints for each rank the
   seconds in these. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static char sent[1000], received[1000];

static void compute(double seconds) {
  const double until = MPI_Wtime() + seconds;
  while (MPI_Wtime() < until) continue;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int phases = atoi(argv[1]), calls = atoi(argv[2]), rounds = atoi(argv[3]);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double first = 0, value = 1, sum;
  for (int phase = 0; phase < phases; phase++) {
    const double start = MPI_Wtime();
    for (int i = 0; i < calls; i++)
      MPI_Sendrecv(sent, sizeof sent, MPI_CHAR, rank, 0, received, sizeof received, MPI_CHAR, rank, 0, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE);
    if (phase == 0) first = MPI_Wtime() - start;
    for (int i = 0; i < rounds; i++) {
      compute(0.001);
      MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
  }
  printf("%d %f\n", rank, first);
  MPI_Finalize();
  return 0;
}

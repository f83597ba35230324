/* sender: CALLS MPI_Send to nobody, each with WORK_NS of work; prints how long they took together. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "processor_time.h"

enum { WORK_NS = 1000 };

int main(int argc, char** argv) {
  long calls = argc > 1 ? atol(argv[1]) : 1000, owed_ns = 0;
  char byte = 0;
  MPI_Init(&argc, &argv);
  double start = MPI_Wtime();
  long start_ns = processor_ns();
  for (long i = 0; i < calls; i++) {
    owed_ns += WORK_NS;
    pay(&owed_ns);
    MPI_Send(&byte, 1, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
  }
  printf("send %.6f s, cpu %.6f s\n", MPI_Wtime() - start, (double)(processor_ns() - start_ns) * 1e-9);
  MPI_Finalize();
  return 0;
}

/* Another tool of the profiling interface, in the way of mpiP: wraps three functions and says at the end how
   often each was called. */
#include <mpi.h>
#include <stdio.h>

static int sends, barriers, ranks;

int MPI_Send(const void* buffer, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
  ++sends;
  return PMPI_Send(buffer, count, type, dest, tag, comm);
}

int MPI_Barrier(MPI_Comm comm) {
  ++barriers;
  return PMPI_Barrier(comm);
}

int MPI_Comm_rank(MPI_Comm comm, int* rank) {
  ++ranks;
  return PMPI_Comm_rank(comm, rank);
}

int MPI_Init(int* argc, char*** argv) { return PMPI_Init(argc, argv); }

int MPI_Finalize(void) {
  printf("other tool: %d sends, %d barriers, %d ranks\n", sends, barriers, ranks);
  fflush(stdout);
  return PMPI_Finalize();
}

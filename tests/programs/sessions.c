/* sessions: MPI 4's sessions alone, MPI_Init is never called; 10 MPI_Allreduce a rank; prints "ok". */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(void) {
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm;
  int rank, size;
  double one = 1.0, sum = 0.0;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "tare-test", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  MPI_Group_free(&group);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  for (int i = 0; i < 10; i++) MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&session);
  if (rank == 0) printf("ok\n");
  usleep(300000); /* no part of the net time */
  return sum == size ? 0 : 1;
}

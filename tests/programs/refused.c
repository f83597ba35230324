/* refused: sends and receives with arguments that MPI refuses (a negative count), each followed by a right one on the
 * same channel. The calls return errors. 2 ranks; each sends ROUNDS messages to the other with each kind of call;
 * prints "ok".
 */
#include <mpi.h>
#include <stdio.h>

enum { ROUNDS = 5, TAG = 1 };

static char out[100], in[100];
static int wrong;

static void refused(int result) { wrong += result == MPI_SUCCESS; }

static void exchange(MPI_Comm comm, int other, int bytes) {
  MPI_Request request;
  refused(MPI_Send(out, -1, MPI_CHAR, other, TAG, comm));
  MPI_Send(out, bytes, MPI_CHAR, other, TAG, comm);
  refused(MPI_Recv(in, -1, MPI_CHAR, other, TAG, comm, MPI_STATUS_IGNORE));
  MPI_Recv(in, 100, MPI_CHAR, other, TAG, comm, MPI_STATUS_IGNORE);

  refused(MPI_Isend(out, -1, MPI_CHAR, other, TAG, comm, &request));
  MPI_Isend(out, bytes, MPI_CHAR, other, TAG, comm, &request);
  MPI_Recv(in, 100, MPI_CHAR, other, TAG, comm, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  refused(MPI_Irecv(in, -1, MPI_CHAR, other, TAG, comm, &request));
  MPI_Irecv(in, 100, MPI_CHAR, other, TAG, comm, &request);
  MPI_Send(out, bytes, MPI_CHAR, other, TAG, comm);
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  refused(MPI_Sendrecv(out, -1, MPI_CHAR, other, TAG, in, 100, MPI_CHAR, other, TAG, comm, MPI_STATUS_IGNORE));
  MPI_Sendrecv(out, bytes, MPI_CHAR, other, TAG, in, 100, MPI_CHAR, other, TAG, comm, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  int rank;
  MPI_Comm comm;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  for (int i = 1; i <= ROUNDS; i++) exchange(comm, 1 - rank, 10 * i);
  MPI_Comm_free(&comm);
  if (rank == 0 && wrong == 0) printf("ok\n");
  MPI_Finalize();
  return 0;
}

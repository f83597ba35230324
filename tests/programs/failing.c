/* failing: two ranks whose calls return errors among others that do not; prints "ok". Rank 0 sends rank 1 six messages
   of 4, 2, 3, 4, 5 and 6 ints with tag 3. Before, its sends to a rank that does not exist fail; rank 1 receives the
   first message into too small a buffer, and with a wrong count from its source in between. Both delete a file that
   does not exist. */
#include <mpi.h>
#include <stdio.h>

static int ints[8];

static void fails(int result) {
  if (result == MPI_SUCCESS) {
    fprintf(stderr, "this should have failed\n");
    MPI_Abort(MPI_COMM_WORLD, 9);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (rank == 0) {
    for (int i = 0; i < 3; i++) fails(MPI_Send(ints, 4, MPI_INT, 99, 3, MPI_COMM_WORLD));
    fails(MPI_Send(ints, -1, MPI_INT, 1, 3, MPI_COMM_WORLD));
    MPI_Send(ints, 4, MPI_INT, 1, 3, MPI_COMM_WORLD);
    for (int i = 2; i <= 6; i++) MPI_Send(ints, i, MPI_INT, 1, 3, MPI_COMM_WORLD);
  } else {
    fails(MPI_Recv(ints, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (int i = 2; i <= 6; i++) {
      fails(MPI_Recv(ints, -1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
      MPI_Recv(ints, 8, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  }
  fails(MPI_File_delete("this file does not exist", MPI_INFO_NULL));
  if (rank == 0) puts("ok");
  MPI_Finalize();
  return 0;
}

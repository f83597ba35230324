/* failing: two ranks whose calls return errors among others that do not; prints "ok". Messages have so many ints, and are
   in the order of this list:
     tag 3  4 (too long for its receive), 2, 3, 4, 5, 6; before, sends to a rank that does not exist fail, and in between
            receives with a wrong count
     tag 4  6 (too long for a receive from any source with any tag), 1, 2, 3
     tag 5  4 (too long for MPI_Irecv and MPI_Wait), 1
     tag 6  4 (too long), 2: both in one MPI_Waitall
     tag 7  4 (too long, MPI_Waitany), 1
     tag 8  4 (too long) and, back, 2: MPI_Sendrecv
   Both delete a file that does not exist. Rank 0 calls MPI_Bcast with a wrong root before both call MPI_Allreduce three
   times, and MPI_Barrier. */
#include <mpi.h>
#include <stdio.h>

static int ints[8], others[8];

static void fails(int result) {
  if (result == MPI_SUCCESS) {
    fprintf(stderr, "this should have failed\n");
    MPI_Abort(MPI_COMM_WORLD, 9);
  }
}

static void sends(int tag, int first, int last) {
  for (int i = first; i <= last; i++) MPI_Send(ints, i, MPI_INT, 1, tag, MPI_COMM_WORLD);
}

static void receives(int tag, int first, int last) {
  for (int i = first; i <= last; i++) MPI_Recv(ints, 8, MPI_INT, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void first_rank(void) {
  for (int i = 0; i < 3; i++) fails(MPI_Send(ints, 4, MPI_INT, 99, 3, MPI_COMM_WORLD));
  fails(MPI_Send(ints, -1, MPI_INT, 1, 3, MPI_COMM_WORLD));
  sends(3, 4, 4);
  sends(3, 2, 6);
  sends(4, 6, 6);
  sends(4, 1, 3);
  sends(5, 4, 4);
  sends(5, 1, 1);
  sends(6, 4, 4);
  sends(6, 2, 2);
  sends(7, 4, 4);
  sends(7, 1, 1);
  MPI_Sendrecv(ints, 4, MPI_INT, 1, 8, others, 8, MPI_INT, 1, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  fails(MPI_Bcast(ints, 1, MPI_INT, 77, MPI_COMM_WORLD));
}

static void second_rank(void) {
  MPI_Request requests[2];
  MPI_Status statuses[2];
  int index;
  fails(MPI_Recv(ints, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  for (int i = 2; i <= 6; i++) {
    fails(MPI_Recv(ints, -1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    receives(3, i, i);
  }
  fails(MPI_Recv(ints, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  receives(4, 1, 3);
  MPI_Irecv(ints, 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &requests[0]);
  fails(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
  receives(5, 1, 1);
  MPI_Irecv(ints, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(others, 8, MPI_INT, 0, 6, MPI_COMM_WORLD, &requests[1]);
  fails(MPI_Waitall(2, requests, statuses));
  MPI_Wait(&requests[1], MPI_STATUS_IGNORE); /* MPI may have left it pending */
  MPI_Irecv(ints, 1, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &requests[0]);
  fails(MPI_Waitany(1, requests, &index, MPI_STATUS_IGNORE));
  receives(7, 1, 1);
  fails(MPI_Sendrecv(ints, 2, MPI_INT, 0, 8, others, 1, MPI_INT, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (rank == 0)
    first_rank();
  else
    second_rank();
  fails(MPI_File_delete("this file does not exist", MPI_INFO_NULL));
  for (int i = 0; i < 3; i++) MPI_Allreduce(MPI_IN_PLACE, ints, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) puts("ok");
  MPI_Finalize();
  return 0;
}

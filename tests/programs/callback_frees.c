/* callback_frees: communicators are freed inside MPI_Comm_free, by an attribute's delete function.
 *
 * Handles come back at once: an intercommunicator may get the one of a communicator that was freed
 * unseen. A tool that takes the one for the other reads arguments that are not there (the counts of
 * MPI_Scatterv, which only the root has). 2 ranks; ROUNDS rounds of 2 MPI_Scatterv; prints "ok".
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 20 };

static int free_hidden(MPI_Comm comm, int key, void* value, void* extra) {
  MPI_Comm* hidden = value;
  (void)comm, (void)key, (void)extra;
  int result = MPI_Comm_free(hidden);
  free(hidden);
  return result;
}

/* Uses a communicator and has it freed by the callback. */
static void use_hidden(int key) {
  MPI_Comm holder;
  MPI_Comm* hidden = malloc(sizeof *hidden);
  if (!hidden) MPI_Abort(MPI_COMM_WORLD, 1);
  MPI_Comm_dup(MPI_COMM_WORLD, &holder);
  MPI_Comm_dup(MPI_COMM_SELF, hidden);
  MPI_Barrier(*hidden);
  MPI_Comm_set_attr(holder, key, hidden);
  MPI_Comm_free(&holder);
}

static void scatter_both_ways(int rank) {
  MPI_Comm alone, bridge;
  int out = rank, in = -1, count = 1, displacement = 0;
  MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &alone);
  MPI_Intercomm_create(alone, 0, MPI_COMM_WORLD, 1 - rank, 0, &bridge);
  for (int root = 0; root < 2; root++)
    if (root == rank)
      MPI_Scatterv(&out, &count, &displacement, MPI_INT, NULL, 0, MPI_INT, MPI_ROOT, bridge);
    else
      MPI_Scatterv(NULL, NULL, NULL, MPI_INT, &in, 1, MPI_INT, 0, bridge);
  if (in != 1 - rank) MPI_Abort(MPI_COMM_WORLD, 1);
  MPI_Comm_free(&bridge);
  MPI_Comm_free(&alone);
}

int main(int argc, char** argv) {
  int rank, key;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_hidden, &key, NULL);
  for (int i = 0; i < ROUNDS; i++) {
    use_hidden(key);
    scatter_both_ways(rank);
  }
  MPI_Comm_free_keyval(&key);
  if (rank == 0) printf("ok\n");
  MPI_Finalize();
  return 0;
}

/* callbacks: a copy function of an attribute, which MPI_Comm_dup runs, communicates. 2 ranks.
 *
 * "messages": rank 1 sends EARLY messages of 100 ints, then in the callback 1 int, then 200 ints, all on one channel;
 * it also starts a receive in the callback. Prints "ok". "hang": rank 1 stays in the callback, where it has probed, and
 * could send what rank 0 waits for.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { EARLY = 3, TAG = 1, BACK = 2 };

static int ints[200];
static MPI_Request request;

static int copy_with_messages(MPI_Comm comm, int key, void* extra, void* in, void* out, int* flag) {
  (void)comm, (void)key, (void)extra, (void)in, (void)out;
  MPI_Send(ints, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD);
  MPI_Irecv(ints, 1, MPI_INT, 0, BACK, MPI_COMM_WORLD, &request);
  *flag = 0;
  return MPI_SUCCESS;
}

static int copy_for_ever(MPI_Comm comm, int key, void* extra, void* in, void* out, int* flag) {
  (void)comm, (void)key, (void)extra, (void)in, (void)out, (void)flag;
  int found;
  MPI_Iprobe(0, BACK, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
  for (;;) sleep(1);
}

int main(int argc, char** argv) {
  int rank, key;
  MPI_Comm copy;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int hangs = argc > 1 && strcmp(argv[1], "hang") == 0;
  MPI_Comm_create_keyval(hangs ? copy_for_ever : copy_with_messages, MPI_COMM_NULL_DELETE_FN, &key, NULL);
  const MPI_Comm of = hangs ? MPI_COMM_WORLD : MPI_COMM_SELF;
  MPI_Comm_set_attr(of, key, NULL);
  for (int i = 0; i < EARLY && !hangs; i++)
    if (rank == 0)
      MPI_Recv(ints, 200, MPI_INT, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
      MPI_Send(ints, 100, MPI_INT, 0, TAG, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    MPI_Recv(ints, 200, MPI_INT, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(ints, 1, MPI_INT, 1, BACK, MPI_COMM_WORLD);
    MPI_Recv(ints, 200, MPI_INT, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    MPI_Comm_dup(of, &copy);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    usleep(20000);
    MPI_Send(ints, 200, MPI_INT, 0, TAG, MPI_COMM_WORLD);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("ok\n");
  MPI_Finalize();
  return 0;
}

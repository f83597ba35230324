/* handover: MPI_THREAD_MULTIPLE; of each rank, one thread starts what another one completes, which starts and completes
 * requests of its own between, so that MPI gives handles that one has freed to the other; prints "ok".
 *
 * usage: handover ROUNDS
 *   A round: MPI_Irecv and MPI_Isend with the other rank, tag the number of the round, MPI_Waitall or two MPI_Wait by
 *   the other thread; after every third, the same within the rank on a communicator of its own, by that thread alone.
 * tests/integration/test_threads.py knows these numbers.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { DEPTH = 4, COUNT = 20000 }; /* not sent at once */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int started, completed; /* rounds */
static MPI_Request requests[DEPTH][2];
static double in[DEPTH][COUNT], out[DEPTH][COUNT];
static int rounds, rank;
static MPI_Comm own;

static void wait_until(const int* count, int least) {
  pthread_mutex_lock(&mutex);
  while (*count < least) pthread_cond_wait(&changed, &mutex);
  pthread_mutex_unlock(&mutex);
}

static void advance(int* count) {
  pthread_mutex_lock(&mutex);
  ++*count;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&mutex);
}

static void* complete(void* unused) {
  for (int i = 0; i < rounds; i++) {
    MPI_Request* both = requests[i % DEPTH];
    wait_until(&started, i + 1);
    if (i % 2 == 0) {
      MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    } else {
      MPI_Wait(&both[1], MPI_STATUS_IGNORE);
      MPI_Wait(&both[0], MPI_STATUS_IGNORE);
    }
    advance(&completed);
    if (i % 3 != 0) continue;
    double to = i, from = -1;
    MPI_Request mine[2];
    MPI_Irecv(&from, 1, MPI_DOUBLE, 0, i, own, &mine[0]);
    MPI_Isend(&to, 1, MPI_DOUBLE, 0, i, own, &mine[1]);
    MPI_Waitall(2, mine, MPI_STATUSES_IGNORE);
    if (from != to) MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return unused;
}

int main(int argc, char** argv) {
  int provided;
  pthread_t completer;
  rounds = argc > 1 ? atoi(argv[1]) : 100;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &own);
  if (provided != MPI_THREAD_MULTIPLE || pthread_create(&completer, NULL, complete, NULL) != 0)
    MPI_Abort(MPI_COMM_WORLD, 1);
  for (int i = 0; i < rounds; i++) {
    const int slot = i % DEPTH;
    wait_until(&completed, i - DEPTH + 1);
    MPI_Irecv(in[slot], COUNT, MPI_DOUBLE, 1 - rank, i, MPI_COMM_WORLD, &requests[slot][0]);
    MPI_Isend(out[slot], COUNT, MPI_DOUBLE, 1 - rank, i, MPI_COMM_WORLD, &requests[slot][1]);
    advance(&started);
  }
  pthread_join(completer, NULL);
  MPI_Comm_free(&own);
  if (rank == 0) puts("ok");
  MPI_Finalize();
  return 0;
}

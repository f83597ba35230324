/* Below MPI_THREAD_MULTIPLE a thread that never calls MPI changes all the time which messages are sampled, while the
 * main thread sends and receives. Prints "ok" where all messages were right and the changes were taken. */
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

int tare_sample(const char* spec) __attribute__((weak));

static atomic_int stop;
static atomic_long changes;

static void* change(void* unused) {
  static const char* const specs[] = {"none", "random:0.5", "counter:16,4", "random:1,stat"};
  for (int i = 0; !stop; ++i) if (tare_sample(specs[i % 4]) == 0) ++changes;
  return unused;
}

int main(int argc, char** argv) {
  int provided, rank, wrong = 0, got = 0;
  pthread_t other;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (tare_sample != NULL) {
    pthread_create(&other, NULL, change, NULL);
    while (changes == 0) continue;
  }
  for (int i = 0; i < 5000; ++i) {
    if (rank == 0) {
      MPI_Send(&i, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    } else {
      MPI_Recv(&got, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      wrong += got != i;
    }
  }
  stop = 1;
  if (tare_sample != NULL) pthread_join(other, NULL);
  if (wrong == 0 && (tare_sample == NULL || changes > 0)) puts("ok");
  MPI_Finalize();
  return wrong != 0;
}

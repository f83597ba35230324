// Two threads of each rank send to the next rank and back, so often, and all ranks meet. The argument says which fault
// rank 0 commits at the end, for a sanitizer to find: overflow, race, shift or leak; or none.
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXCHANGES = 200, BARRIERS = 100, BYTES = 64 };

static volatile int shared;

static void* exchange(void* argument) {
  MPI_Comm comm = *(MPI_Comm*)argument;
  int rank;
  MPI_Comm_rank(comm, &rank);
  for (int i = 0; i < EXCHANGES; ++i) {
    char* bytes = malloc(BYTES);
    memset(bytes, i, BYTES);
    MPI_Sendrecv_replace(bytes, BYTES, MPI_CHAR, rank ^ 1, 0, rank ^ 1, 0, comm, MPI_STATUS_IGNORE);
    free(bytes);
  }
  return NULL;
}

// In one line: which of its reads and writes a sanitizer names is chance.
static void increment(void) { ++shared; }

// Both threads are there before they begin, but are not synchronised.
static void* race(void* argument) {
  static atomic_int there;
  atomic_fetch_add_explicit(&there, 1, memory_order_relaxed);
  while (atomic_load_explicit(&there, memory_order_relaxed) < 2) sched_yield();
  for (int i = 0; i < 100000; ++i) increment();
  return argument;
}

static void commit(const char* fault) {
  if (strcmp(fault, "overflow") == 0) {
    volatile char* bytes = malloc(8);
    bytes[8] = 1;
    free((void*)bytes);
  } else if (strcmp(fault, "race") == 0) {
    pthread_t other;
    pthread_create(&other, NULL, race, NULL);
    race(NULL);
    pthread_join(other, NULL);
  } else if (strcmp(fault, "shift") == 0) {
    volatile int far = 40;
    shared = 1 << far;
  } else if (strcmp(fault, "leak") == 0) {
    volatile char* bytes = malloc(8);
    bytes[0] = 1;
    bytes = NULL;
  }
}

int main(int argc, char** argv) {
  int rank, provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm world = MPI_COMM_WORLD, other;
  MPI_Comm_dup(world, &other);
  pthread_t thread;
  pthread_create(&thread, NULL, exchange, &other);
  exchange(&world);
  pthread_join(thread, NULL);
  for (int i = 0; i < BARRIERS; ++i) MPI_Barrier(world);
  MPI_Comm_free(&other);
  MPI_Finalize();
  if (rank == 0) commit(argc > 1 ? argv[1] : "none");
  printf("done %d\n", rank);
  return 0;
}

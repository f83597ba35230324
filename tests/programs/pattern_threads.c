/* pattern_threads SEED ITERATIONS [SPEC SPEC]: threads of neighbouring ranks exchange messages, each on channels of its
 * own and on one that all threads share. Every length between two ranks is another, until they repeat. A thread changes
 * between the two specs of message sampling, if they are given. */
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { threads = 3, lengths = 3000, room = 16 + 8 * lengths, shared_tag = 7 };
static int rank, peer, iterations;
static uint64_t seed;
static MPI_Comm comm_of[threads];
static long next_length;
static char** specs;
extern int tare_sample(const char* spec) __attribute__((weak));

struct head {
  int32_t source, thread;
  int64_t bytes;
};

static int fill(char* buffer, int thread) {
  const long number = __atomic_fetch_add(&next_length, 1, __ATOMIC_RELAXED);
  struct head h = {rank, thread, (long)sizeof h + 8 * (number % lengths)};
  memcpy(buffer, &h, sizeof h);
  return (int)h.bytes;
}

static void check(const char* buffer, MPI_Status* status, int thread) {
  struct head h;
  int bytes = 0;
  MPI_Get_count(status, MPI_BYTE, &bytes);
  memcpy(&h, buffer, sizeof h);
  if (h.bytes == bytes && h.source == peer && (thread < 0 || h.thread == thread)) return;
  fprintf(stderr, "rank %d: a message that was not sent to here\n", rank);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

static void* run(void* argument) {
  const int thread = (int)(intptr_t)argument;
  uint64_t state = seed * 1000003u + (uint64_t)thread; /* the same on both sides */
  char* out = malloc(room);
  char* in = malloc(room);
  for (int i = 0; i < iterations; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const unsigned how = (unsigned)(state >> 40);
    if (specs != NULL && tare_sample != NULL && thread == 0 && i % 16 == 0) tare_sample(specs[i / 16 % 2]);
    MPI_Comm comm = how % 2 ? MPI_COMM_WORLD : comm_of[thread];
    const int shared = how % 3 == 0, tag = shared ? shared_tag : 100 + thread;
    if (shared) comm = MPI_COMM_WORLD;
    const int any = comm != MPI_COMM_WORLD && how / 8 % 2;
    const int from = any ? MPI_ANY_SOURCE : peer, with = any ? MPI_ANY_TAG : tag;
    const int bytes = fill(out, thread);
    MPI_Request requests[2];
    MPI_Status statuses[2];
    switch (how / 16 % 4) {
      case 0:
        MPI_Sendrecv(out, bytes, MPI_BYTE, peer, tag, in, room, MPI_BYTE, from, with, comm, &statuses[0]);
        break;
      case 1:
        MPI_Isend(out, bytes, MPI_BYTE, peer, tag, comm, &requests[1]);
        MPI_Irecv(in, room, MPI_BYTE, from, with, comm, &requests[0]);
        MPI_Waitall(2, requests, statuses);
        break;
      case 2:
        MPI_Irecv(in, room, MPI_BYTE, from, with, comm, &requests[0]);
        MPI_Send(out, bytes, MPI_BYTE, peer, tag, comm);
        MPI_Wait(&requests[0], &statuses[0]);
        break;
      default:
        MPI_Isend(out, bytes, MPI_BYTE, peer, tag, comm, &requests[1]);
        MPI_Recv(in, room, MPI_BYTE, from, with, comm, &statuses[0]);
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
        break;
    }
    check(in, &statuses[0], shared ? -1 : thread);
  }
  free(out);
  free(in);
  return NULL;
}

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc < 3 || provided != MPI_THREAD_MULTIPLE) {
    fprintf(stderr, "usage: pattern_threads SEED ITERATIONS, an even number of ranks\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  seed = (uint64_t)atol(argv[1]);
  iterations = atoi(argv[2]);
  if (argc == 5) specs = argv + 3;
  peer = rank ^ 1;
  pthread_t ids[threads];
  for (int i = 0; i < threads; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &comm_of[i]);
  for (int i = 0; i < threads; ++i) pthread_create(&ids[i], NULL, run, (void*)(intptr_t)i);
  for (int i = 0; i < threads; ++i) pthread_join(ids[i], NULL);
  for (int i = 0; i < threads; ++i) MPI_Comm_free(&comm_of[i]);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("ok\n");
  MPI_Finalize();
  return 0;
}

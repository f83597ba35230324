/* ping_pong: how long one message takes, by its size and by the calls that send and receive it.
 *
 * Two ranks send each other a message in turn (MPI_Send, MPI_Recv); half of there and back is the latency. One rank
 * alone sends to itself (MPI_Isend, MPI_Recv, MPI_Wait), which costs the same number of instructions each time.
 * With other calls both ranks send at the same time, and one alone to itself.
 *
 * usage: ping_pong [-c CALLS] [-i ITERATIONS] [-r ROUNDS] [SIZE...]
 *   -c  send; isend: MPI_Irecv, MPI_Isend, MPI_Waitall; test: the same, completed by MPI_Test; sendrecv; start and
 *       startall: persistent requests, two MPI_Start or one MPI_Startall, MPI_Waitall                (send)
 *   -i  messages there and back in a round; a tenth of them at 64 KiB and more   (2000)
 *   -r  rounds                                                                   (7)
 *   SIZE  bytes of a message (4 16 64 256 1024 4096 16384 65536 262144 1048576)
 *
 * Rank 0 prints one line of JSON: for each size the median over the rounds and the fastest round, in ns a message:
 *   {"ranks": 2, "iterations": 2000, "rounds": 7, "4_ns": 310.5, "4_min_ns": 298.1, ...}
 * Exit code 2 on wrong usage.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_ROUNDS = 1000, MAX_SIZES = 64, LONG = 65536, LARGEST = 1 << 24 };

static char *outgoing, *incoming;
static int rank, ranks, peer;
static void (*message)(int bytes); /* one, there and perhaps back */

static double now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void send_to_self(int bytes) {
  MPI_Request request;
  MPI_Isend(outgoing, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &request);
  MPI_Recv(incoming, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void there_and_back(int bytes) {
  if (rank == 0) {
    MPI_Send(outgoing, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    MPI_Recv(incoming, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(incoming, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(outgoing, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
  }
}

static void isend(int bytes) {
  MPI_Request requests[2];
  MPI_Irecv(incoming, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(outgoing, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void test(int bytes) {
  MPI_Request requests[2];
  int done = 0, sent = 0;
  MPI_Irecv(incoming, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(outgoing, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD, &requests[1]);
  while (!done) MPI_Test(&requests[0], &done, MPI_STATUS_IGNORE);
  while (!sent) MPI_Test(&requests[1], &sent, MPI_STATUS_IGNORE);
}

static void exchange(int bytes) {
  MPI_Sendrecv(outgoing, bytes, MPI_BYTE, peer, 0, incoming, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
}

static MPI_Request persistent[2];

static void start(int bytes) {
  (void)bytes;
  MPI_Start(&persistent[0]);
  MPI_Start(&persistent[1]);
  MPI_Waitall(2, persistent, MPI_STATUSES_IGNORE);
}

static void startall(int bytes) {
  (void)bytes;
  MPI_Startall(2, persistent);
  MPI_Waitall(2, persistent, MPI_STATUSES_IGNORE);
}

static const struct {
  const char* name;
  void (*message)(int bytes);
} kinds[] = {{"send", there_and_back}, {"isend", isend}, {"test", test},
             {"sendrecv", exchange},   {"start", start}, {"startall", startall}};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static int find_kind(const char* name) {
  int kind = 0;
  while (kind < KINDS && strcmp(kinds[kind].name, name) != 0) kind++;
  return kind;
}

/* ns a message. */
static double round_of(int bytes, long iterations) {
  const double begin = now_ns();
  for (long i = 0; i < iterations; i++) message(bytes);
  return (now_ns() - begin) / (double)iterations / (message == there_and_back ? 2 : 1);
}

static int compare(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static void measure(int bytes, long iterations, int rounds) {
  const int persists = message == start || message == startall;
  double times[MAX_ROUNDS];
  if (bytes >= LONG && iterations >= 10) iterations /= 10;
  if (persists) MPI_Recv_init(incoming, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD, &persistent[0]);
  if (persists) MPI_Send_init(outgoing, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD, &persistent[1]);
  round_of(bytes, iterations / 10 + 1);
  for (int i = 0; i < rounds; i++) {
    MPI_Barrier(MPI_COMM_WORLD);
    times[i] = round_of(bytes, iterations);
  }
  for (int i = 0; persists && i < 2; i++) MPI_Request_free(&persistent[i]);
  qsort(times, (size_t)rounds, sizeof times[0], compare);
  if (rank == 0) printf(", \"%d_ns\": %.1f, \"%d_min_ns\": %.1f", bytes, times[rounds / 2], bytes, times[0]);
}

int main(int argc, char** argv) {
  long iterations = 2000;
  int rounds = 7, sizes[MAX_SIZES] = {4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576}, count = 10;
  int wrong = 0, given = 0, kind = 0;
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "-c") == 0 && i + 1 < argc) {
      kind = find_kind(argv[++i]);
    } else if (strcmp(argv[i], "-i") == 0 && i + 1 < argc) {
      iterations = atol(argv[++i]);
    } else if (strcmp(argv[i], "-r") == 0 && i + 1 < argc) {
      rounds = atoi(argv[++i]);
    } else {
      char* end = NULL;
      const long bytes = strtol(argv[i], &end, 10);
      wrong = wrong || *end != '\0' || bytes < 0 || bytes > LARGEST || given == MAX_SIZES;
      if (!wrong) sizes[given++] = (int)bytes;
    }
  }
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (wrong || iterations < 1 || rounds < 1 || rounds > MAX_ROUNDS || ranks > 2 || kind == KINDS) {
    if (rank == 0)
      fprintf(stderr,
              "usage: ping_pong [-c send|isend|test|sendrecv|start|startall] [-i ITERATIONS] [-r ROUNDS] [SIZE...]"
              ", 1 or 2 ranks\n");
    MPI_Finalize();
    return 2;
  }
  if (given > 0) count = given;
  peer = ranks - 1 - rank;
  message = kinds[kind].message == there_and_back && ranks == 1 ? send_to_self : kinds[kind].message;
  outgoing = malloc(LARGEST);
  incoming = malloc(LARGEST);
  memset(outgoing, 1, LARGEST);
  memset(incoming, 0, LARGEST);
  if (rank == 0) printf("{\"ranks\": %d, \"iterations\": %ld, \"rounds\": %d", ranks, iterations, rounds);
  for (int i = 0; i < count; i++) measure(sizes[i], iterations, rounds);
  if (rank == 0) printf("}\n");
  free(outgoing);
  free(incoming);
  MPI_Finalize();
  return 0;
}

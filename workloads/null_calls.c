/* null_calls: what one MPI call costs when there is nothing to communicate.
 *
 * Calls MPI functions in tight loops with MPI_PROC_NULL as the partner, so that nearly all of the
 * time is the way into the library and back. Meant for one rank; run it with and without a tool and
 * the difference is the tool's cost for each call.
 *
 * usage: null_calls [-i ITERATIONS] [-r ROUNDS] [-b BATCH] [KIND...]
 *   -i  calls in a round (for waitall: batches)           (1000000; waitall: a tenth)
 *   -r  rounds                                            (7)
 *   -b  requests that one MPI_Waitall completes           (16)
 *   KIND  send, recv, comm_rank, wtime, waitall, sites or completions (all)
 *         waitall: BATCH/2 MPI_Isend, BATCH/2 MPI_Irecv and one MPI_Waitall, timed together
 *         sites: as send, through 1,000 call sites in turn
 *         completions: the MPI_Waitall alone of 32 messages to itself, sent and received
 *
 * Prints one line of JSON: for each kind the median over the rounds and the fastest round, in ns a
 * call (waitall: ns a batch; completions: ns a request):
 *   {"iterations": 1000000, "rounds": 7, "batch": 16, "send_ns": 8.1, "send_min_ns": 8.0, ...}
 * Exit code 2 on wrong usage.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_ROUNDS = 1000, MAX_BATCH = 4096, WAITALL_FRACTION = 10, COMPLETIONS = 64 };

static char buffer[8], outgoing[8];
static MPI_Request requests[MAX_BATCH];
static double part_ns; /* of a loop that is timed in part: that part */

static double now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

__attribute__((noinline)) static void loop_send(long iterations, int batch) {
  (void)batch;
  for (long i = 0; i < iterations; i++)
    MPI_Send(buffer, (int)sizeof buffer, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
}

__attribute__((noinline)) static void loop_recv(long iterations, int batch) {
  (void)batch;
  for (long i = 0; i < iterations; i++)
    MPI_Recv(buffer, (int)sizeof buffer, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

__attribute__((noinline)) static void loop_comm_rank(long iterations, int batch) {
  int rank;
  (void)batch;
  for (long i = 0; i < iterations; i++) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
}

__attribute__((noinline)) static void loop_wtime(long iterations, int batch) {
  (void)batch;
  for (long i = 0; i < iterations; i++) MPI_Wtime();
}

__attribute__((noinline)) static void loop_waitall(long iterations, int batch) {
  for (long i = 0; i < iterations; i++) {
    for (int r = 0; r < batch; r += 2) {
      MPI_Isend(buffer, (int)sizeof buffer, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[r]);
      MPI_Irecv(buffer, (int)sizeof buffer, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[r + 1]);
    }
    MPI_Waitall(batch, requests, MPI_STATUSES_IGNORE);
  }
}

#define SEND MPI_Send(buffer, (int)sizeof buffer, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
#define TEN(x) x x x x x x x x x x

__attribute__((noinline)) static void loop_sites(long iterations, int batch) {
  (void)batch;
  for (long i = 0; i < iterations; i++) {
    TEN(TEN(TEN(SEND)))
  }
}

__attribute__((noinline)) static void loop_completions(long iterations, int batch) {
  (void)batch;
  for (long i = 0; i < iterations; i++) {
    double start;
    for (int r = 0; r < COMPLETIONS; r += 2) {
      MPI_Irecv(buffer, (int)sizeof buffer, MPI_BYTE, 0, 0, MPI_COMM_SELF, &requests[r]);
      MPI_Isend(outgoing, (int)sizeof buffer, MPI_BYTE, 0, 0, MPI_COMM_SELF, &requests[r + 1]);
    }
    start = now_ns();
    MPI_Waitall(COMPLETIONS, requests, MPI_STATUSES_IGNORE);
    part_ns += now_ns() - start;
  }
}

static const struct {
  const char* name;
  void (*loop)(long iterations, int batch);
  int fraction; /* runs iterations / fraction times */
  int calls;    /* that an iteration stands for */
} kinds[] = {
    {"send", loop_send, 1, 1},
    {"recv", loop_recv, 1, 1},
    {"comm_rank", loop_comm_rank, 1, 1},
    {"wtime", loop_wtime, 1, 1},
    {"waitall", loop_waitall, WAITALL_FRACTION, 1},
    {"sites", loop_sites, 1000, 1000},
    {"completions", loop_completions, 100, COMPLETIONS},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static int ascending(const void* left, const void* right) {
  double difference = *(const double*)left - *(const double*)right;
  return (difference > 0) - (difference < 0);
}

static void measure(int kind, long iterations, int rounds, int batch) {
  static double per_call_ns[MAX_ROUNDS];
  iterations = iterations / kinds[kind].fraction > 0 ? iterations / kinds[kind].fraction : 1;
  kinds[kind].loop(iterations / 10, batch); /* warm up */
  for (int round = 0; round < rounds; round++) {
    double start = now_ns(), spent_ns;
    part_ns = 0;
    kinds[kind].loop(iterations, batch);
    spent_ns = part_ns > 0 ? part_ns : now_ns() - start;
    per_call_ns[round] = spent_ns / (double)iterations / kinds[kind].calls;
  }
  qsort(per_call_ns, (size_t)rounds, sizeof per_call_ns[0], ascending);
  printf(", \"%s_ns\": %.2f, \"%s_min_ns\": %.2f", kinds[kind].name, per_call_ns[rounds / 2], kinds[kind].name,
         per_call_ns[0]);
}

static int find_kind(const char* name) {
  for (int kind = 0; kind < KINDS; kind++)
    if (!strcmp(name, kinds[kind].name)) return kind;
  return -1;
}

int main(int argc, char** argv) {
  long iterations = 1000000;
  int rounds = 7, batch = 16, any = 0, usable = 1;
  int wanted[KINDS] = {0};

  MPI_Init(&argc, &argv);
  for (int i = 1; i < argc && usable; i++) {
    int kind = find_kind(argv[i]);
    if (kind >= 0)
      any = wanted[kind] = 1;
    else if (!strcmp(argv[i], "-i") && i + 1 < argc)
      iterations = atol(argv[++i]);
    else if (!strcmp(argv[i], "-r") && i + 1 < argc)
      rounds = atoi(argv[++i]);
    else if (!strcmp(argv[i], "-b") && i + 1 < argc)
      batch = atoi(argv[++i]);
    else
      usable = 0;
  }
  usable = usable && iterations > 0 && rounds > 0 && rounds <= MAX_ROUNDS && batch > 0 && batch % 2 == 0 &&
           batch <= MAX_BATCH;
  if (!usable) {
    fprintf(stderr,
            "usage: null_calls [-i ITERATIONS] [-r ROUNDS, at most %d] [-b BATCH, even, at most %d] "
            "[send|recv|comm_rank|wtime|waitall|sites|completions ...]\n",
            MAX_ROUNDS, MAX_BATCH);
  } else {
    printf("{\"iterations\": %ld, \"rounds\": %d, \"batch\": %d", iterations, rounds, batch);
    for (int kind = 0; kind < KINDS; kind++)
      if (wanted[kind] || !any) measure(kind, iterations, rounds, batch);
    printf("}\n");
  }
  MPI_Finalize();
  return usable ? 0 : 2;
}

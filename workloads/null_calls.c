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
 *   KIND  send, recv, comm_rank, wtime or waitall         (all)
 *         waitall: BATCH/2 MPI_Isend, BATCH/2 MPI_Irecv and one MPI_Waitall, timed together
 *
 * Prints one line of JSON: for each kind the median over the rounds and the fastest round, in ns a
 * call (waitall: ns a batch):
 *   {"iterations": 1000000, "rounds": 7, "batch": 16, "send_ns": 8.1, "send_min_ns": 8.0, ...}
 * Exit code 2 on wrong usage.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_ROUNDS = 1000, MAX_BATCH = 4096, WAITALL_FRACTION = 10 };

static char buffer[8];
static MPI_Request requests[MAX_BATCH];

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

static const struct {
  const char* name;
  void (*loop)(long iterations, int batch);
  int fraction; /* runs iterations / fraction times */
} kinds[] = {
    {"send", loop_send, 1},
    {"recv", loop_recv, 1},
    {"comm_rank", loop_comm_rank, 1},
    {"wtime", loop_wtime, 1},
    {"waitall", loop_waitall, WAITALL_FRACTION},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static double now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static int ascending(const void* left, const void* right) {
  double difference = *(const double*)left - *(const double*)right;
  return (difference > 0) - (difference < 0);
}

static void measure(int kind, long iterations, int rounds, int batch) {
  static double per_call_ns[MAX_ROUNDS];
  iterations = iterations / kinds[kind].fraction > 0 ? iterations / kinds[kind].fraction : 1;
  kinds[kind].loop(iterations / 10, batch); /* warm up */
  for (int round = 0; round < rounds; round++) {
    double start = now_ns();
    kinds[kind].loop(iterations, batch);
    per_call_ns[round] = (now_ns() - start) / (double)iterations;
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
            "[send|recv|comm_rank|wtime|waitall ...]\n",
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

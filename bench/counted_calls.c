/* counted_calls: a few calls of each kind, to be counted instruction by instruction (bench/measurements/counts.py).
 *
 * Runs on one rank, under valgrind's callgrind with a simulation of caches, and has it write its counts after each
 * kind. Every kind is counted twice: in a tight loop ("KIND warm"), and with a sweep before each call that throws
 * everything out of the first-level caches, as a program does that computes between two calls ("KIND cold"). What a
 * tool adds to the misses of the latter are the cache lines that it touches. "none" is the sweep alone. Of some kinds,
 * only one of several calls is counted, and swept before: those that the most frequent exchange of a solver is made of.
 *
 * usage: counted_calls CALLS
 *
 * Exit code 2 on wrong usage.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <valgrind/callgrind.h>

enum { CODE_LINES = 1024, DATA_LINES = 1024, LINE = 64, WARM_UP = 256 };

static char buffer[8], outgoing[8];
static volatile char memory[DATA_LINES * LINE] __attribute__((aligned(LINE)));
static MPI_Request requests[2], pending;

/* Twice the size of the caches that the benchmark has callgrind simulate, of data and of code. */
__attribute__((noinline)) static void sweep(void) {
  for (int line = 0; line < DATA_LINES; line++) (void)memory[line * LINE];
  __asm__ volatile(
      ".p2align 6\n"
      ".rept 1024\n"
      "jmp 1f\n"
      ".p2align 6\n"
      "1:\n"
      ".endr\n");
}

static void call_none(void) {}

static void call_send(void) { MPI_Send(buffer, (int)sizeof buffer, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD); }

static void call_isend_wait(void) {
  MPI_Isend(buffer, (int)sizeof buffer, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
}

static void call_irecv_wait(void) {
  MPI_Irecv(buffer, (int)sizeof buffer, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
}

static void call_exchange(void) {
  MPI_Irecv(buffer, (int)sizeof buffer, MPI_BYTE, 0, 0, MPI_COMM_SELF, &requests[0]);
  MPI_Isend(outgoing, (int)sizeof outgoing, MPI_BYTE, 0, 0, MPI_COMM_SELF, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void call_allreduce(void) {
  double in = 1, out;
  MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
}

static void call_test(void) {
  int flag;
  MPI_Test(&pending, &flag, MPI_STATUS_IGNORE);
}

/* The calls of an exchange of one message. One of them is counted. */
enum { IRECV = 1, ISEND, WAIT_SENT, WAIT_RECEIVED };
static int counted, is_cold;

static void begin(int call) {
  if (counted != call) return;
  if (is_cold) sweep();
  CALLGRIND_TOGGLE_COLLECT;
}
static void end(int call) {
  if (counted == call) CALLGRIND_TOGGLE_COLLECT;
}

static void call_one_of_exchange(void) {
  begin(IRECV);
  MPI_Irecv(buffer, (int)sizeof buffer, MPI_BYTE, 0, 0, MPI_COMM_SELF, &requests[0]);
  end(IRECV);
  begin(ISEND);
  MPI_Isend(outgoing, (int)sizeof outgoing, MPI_BYTE, 0, 0, MPI_COMM_SELF, &requests[1]);
  end(ISEND);
  begin(WAIT_SENT);
  MPI_Waitall(1, &requests[1], MPI_STATUSES_IGNORE);
  end(WAIT_SENT);
  begin(WAIT_RECEIVED);
  MPI_Waitall(1, &requests[0], MPI_STATUSES_IGNORE);
  end(WAIT_RECEIVED);
}

static void call_comm_rank(void) {
  int rank;
  MPI_Comm_rank(MPI_COMM_SELF, &rank);
}

static const struct {
  const char* name;
  void (*call)(void);
  int counted; /* one of the calls of call_one_of_exchange(); 0: all */
} kinds[] = {
    {"none", call_none, 0},
    {"irecv", call_one_of_exchange, IRECV},
    {"isend", call_one_of_exchange, ISEND},
    {"wait_sent", call_one_of_exchange, WAIT_SENT},
    {"wait_received", call_one_of_exchange, WAIT_RECEIVED},
    {"comm_rank", call_comm_rank, 0},
    {"send", call_send, 0},
    {"isend_wait", call_isend_wait, 0},
    {"irecv_wait", call_irecv_wait, 0},
    {"exchange", call_exchange, 0},
    {"allreduce", call_allreduce, 0},
    {"test", call_test, 0},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

__attribute__((noinline)) static void loop(void (*call)(void), int cold, long calls) {
  for (long i = 0; i < calls; i++) {
    if (cold && counted == 0) sweep();
    call();
  }
}

int main(int argc, char** argv) {
  long calls = argc == 2 ? atol(argv[1]) : 0;
  MPI_Init(&argc, &argv);
  if (calls > 0) {
    MPI_Irecv(buffer, (int)sizeof buffer, MPI_BYTE, 0, 1, MPI_COMM_SELF, &pending);
    for (int kind = 0; kind < KINDS; kind++) {
      for (int cold = 0; cold < 2; cold++) {
        char name[64];
        snprintf(name, sizeof name, "%s %s", kinds[kind].name, cold ? "cold" : "warm");
        counted = kinds[kind].counted;
        is_cold = cold;
        if (counted != 0) CALLGRIND_TOGGLE_COLLECT;
        loop(kinds[kind].call, cold, WARM_UP);
        CALLGRIND_ZERO_STATS;
        loop(kinds[kind].call, cold, calls);
        if (counted != 0) CALLGRIND_TOGGLE_COLLECT;
        CALLGRIND_DUMP_STATS_AT(name);
      }
    }
    MPI_Send(buffer, 0, MPI_BYTE, 0, 1, MPI_COMM_SELF);
    MPI_Wait(&pending, MPI_STATUS_IGNORE);
  } else {
    fprintf(stderr, "usage: counted_calls CALLS\n");
  }
  MPI_Finalize();
  return calls > 0 ? 0 : 2;
}

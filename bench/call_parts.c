/* call_parts: a library that adds parts of a tool's work to the calls of a program, to measure what each part costs
 * there (bench/measurements/parts.py).
 *
 * LD_PRELOAD puts it in front of the MPI library. It wraps the functions that hypre's solver calls. A spell lasts from
 * one MPI_Allreduce to the next. In a spell all calls of all ranks do one and the same part of the work, which a hash
 * of the spell's number chooses; in spells of part 0, the controls, they do nothing. So one run compares all parts, and
 * the speed of the machine, which varies from run to run, does not matter (as in docs/weigh.md).
 *
 * Rank 0 writes a line for each spell into the file CALL_PARTS: part, calls, ticks.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <x86intrin.h>

enum { ISEND, IRECV, WAITALL, FUNCTIONS };
enum { NOTHING, CLOCK, LOOP, STRAIGHT, LINES, ROW, RECORD, PARTS };
enum { LOOP_PASSES = 80, ROWS = 4096, RECORDS = 1 << 16 };

/* Code that each function has of its own, as it has of a tool's wrappers. The name makes the copies differ. */
#define OWN_CODE(name)                                                                                                 \
  __attribute__((noinline)) static void straight_##name(void) {                                                        \
    __asm__ volatile("# " #name "\n.rept 100\naddq $1,%%rax\naddq $3,%%rcx\nxorq %%rsi,%%rdx\naddq $5,%%rdi\n.endr" :: \
                         : "rax", "rcx", "rdx", "rsi", "rdi");                                                         \
  }                                                                                                                    \
  __attribute__((noinline)) static void lines_##name(void) {                                                           \
    __asm__ volatile("# " #name "\n.p2align 6\n.rept 16\naddq $1,%%rax\njmp 1f\n.p2align 6\n1:\n.endr" ::: "rax");     \
  }
OWN_CODE(isend)
OWN_CODE(irecv)
OWN_CODE(waitall)
static void (*const straight[FUNCTIONS])(void) = {straight_isend, straight_irecv, straight_waitall};
static void (*const lines[FUNCTIONS])(void) = {lines_isend, lines_irecv, lines_waitall};

struct row {
  uint64_t calls, ticks, least, most, bytes, histogram[48];
};
struct record {
  uint64_t enter, bytes;
  uint32_t ticks, function, peer, tag;
};
static struct row rows[ROWS];
static struct record records[RECORDS];
static uint64_t recorded;
static uint64_t spell, calls, began;
static int part;
static FILE* out;

/* Five instructions each time, with those of the loop. */
__attribute__((noinline)) static void loop(void) {
  for (int i = 0; i < LOOP_PASSES; i++)
    __asm__ volatile("addq $1,%%rax\naddq $3,%%rcx\nxorq %%rsi,%%rdx" ::: "rax", "rcx", "rdx", "rsi");
}

static uint64_t hash(uint64_t x) {
  x = (x ^ x >> 33) * 0xff51afd7ed558ccdU;
  x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53U;
  return x ^ x >> 33;
}

static uint64_t before(int function) {
  calls++;
  switch (part) {
    case LOOP:
      loop();
      return 0;
    case STRAIGHT:
      straight[function]();
      return 0;
    case LINES:
      lines[function]();
      return 0;
    case NOTHING:
      return 0;
    default:
      return __rdtsc();
  }
}

static void after(int function, uint64_t enter, void* return_address, uint64_t bytes, int peer, int tag) {
  if (part < ROW && part != CLOCK) return;
  const uint64_t ticks = __rdtsc() - enter;
  struct row* row = &rows[part == CLOCK ? 0 : (uintptr_t)return_address * 0x9e3779b97f4a7c15U >> 52];
  row->ticks += ticks;
  if (part == CLOCK) return;
  if (row->calls++ == 0 || ticks < row->least) row->least = ticks;
  if (ticks > row->most) row->most = ticks;
  row->bytes += bytes;
  row->histogram[(64 - __builtin_clzll(ticks | 1)) % 48]++;
  if (part == RECORD)
    records[recorded++ % RECORDS] =
        (struct record){enter, bytes, (uint32_t)ticks, (uint32_t)function, (uint32_t)peer, (uint32_t)tag};
}

#define MEASURED(function, bytes, peer, tag, call)                                   \
  const uint64_t enter = before(function);                                           \
  const int result = call;                                                           \
  after(function, enter, __builtin_return_address(0), (uint64_t)(bytes), peer, tag); \
  return result

int MPI_Isend(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request* request) {
  MEASURED(ISEND, count, dest, tag, PMPI_Isend(buf, count, type, dest, tag, comm, request));
}

int MPI_Irecv(void* buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request* request) {
  MEASURED(IRECV, count, source, tag, PMPI_Irecv(buf, count, type, source, tag, comm, request));
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  MEASURED(WAITALL, count, 0, 0, PMPI_Waitall(count, requests, statuses));
}

int MPI_Allreduce(const void* in, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  const int result = PMPI_Allreduce(in, to, count, type, op, comm);
  const uint64_t now = __rdtsc();
  int rank;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char* path = getenv("CALL_PARTS");
  if (rank == 0 && out == NULL && path != NULL) out = fopen(path, "w");
  if (out != NULL && began != 0)
    fprintf(out, "%d %llu %llu\n", part, (unsigned long long)calls, (unsigned long long)(now - began));
  calls = 0;
  part = (int)(hash(++spell) % PARTS);
  began = __rdtsc();
  return result;
}

int MPI_Finalize(void) {
  if (out != NULL) fclose(out);
  return PMPI_Finalize();
}

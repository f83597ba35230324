/* A tool whose cost is known: it takes PLANTED_NS ns on average in each call that sends, starts a request or is a
 * collective operation, but for MPI_Bcast, and says at the end how many it really was. In calls that only wait for
 * others, a cost would not delay the program. PLANTED_KIND says how:
 *   fixed    in each call (the default)
 *   nothing  what it needs in order to know what it takes, and no more
 *   random   from nothing to twice as much in the calls of a ms, the same in all ranks
 *   seldom   PLANTED_EVERY times as much in the first call of some ms, the same in all ranks
 *   growing  from a half to more, by one half in each second
 *   sweeping PLANTED_EVERY times as much in each call of that number, by reading memory that displaces the first cache
 *   one      PLANTED_EVERY times as much in each call of that number, and only on rank 0
 *
 * With PLANTED_PAYMENTS, a path, the process writes there, followed by its number, what it has paid when: pairs of the
 * ns (CLOCK_MONOTONIC) at the end of each payment, and the ns paid.
 *
 * With PLANTED_HOOK_MS, it takes as long in MPI_Init, and again in MPI_Finalize.
 *
 * Unless it is compiled with COST_ALONE, it also knows which requests are open, as tools do. Completions of requests
 * whose start it has not seen, and starts whose completion it has not seen, are what a referee must not make.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifndef NAME
#  define NAME "planted"
#endif
#ifdef COST_ALONE
#  define KNOWS_REQUESTS 0
#else
#  define KNOWS_REQUESTS 1
#endif

enum { MOST = 64, SWEPT = 1 << 16, LINE = 64, NS_PER_S = 1000000000, SLOT_NS = 1000000, PAYMENTS = 1 << 22 };

static long planted_ns, every = 64, paid_ns, calls, unknown, made, freed, inits, first_ns;
static double steps_a_ns, ticks_a_ns = 1, clock_ns;
static long last_slot = -1, payments;
static struct { long end, ns; } paid[PAYMENTS];
static const char* kind = "fixed";
static int is_here = 1; /* whether this rank pays */
static volatile char swept[SWEPT];
static volatile unsigned long worked;
static MPI_Request open_requests[MOST];
static int open_count;

static long now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000L + time.tv_nsec;
}

/* The system's clock has lines of its own, which a program displaces: reading them would cost what is not seen. */
static inline long ticks(void) {
#ifdef __x86_64__
  __builtin_ia32_lfence(); /* what is before it has ended */
  return (long)__builtin_ia32_rdtsc();
#else
  return now_ns();
#endif
}

static long first_ticks;
static long ns_since(long from, long to) { return (long)((double)(to - from) / ticks_a_ns); }

/* Without an interruption in between. */
static void read_both(long* ns, long* at) {
  do {
    *ns = now_ns();
    *at = ticks();
  } while (now_ns() > *ns + 1000);
}

/* Takes a processor as long however often it is interrupted. */
static void work(long steps) {
  unsigned long value = worked;
  for (long i = 0; i < steps; i++) value = value * 6364136223846793005UL + 1442695040888963407UL;
  worked = value;
}

static void sweep(long ns) {
  const long end = ticks() + (long)((double)ns * ticks_a_ns);
  while (ticks() < end)
    for (int i = 0; i < SWEPT; i += LINE) (void)swept[i];
}

static long slot_of(long at) { return (first_ns + ns_since(first_ticks, at)) / SLOT_NS; }

/* A random number from 0 to 1, the same in all ranks. A number of the call would not be: their calls may differ. */
static double chance(long slot) {
  unsigned long mixed = ((unsigned long)slot + 1) * 0x9E3779B97F4A7C15UL;
  mixed = (mixed ^ mixed >> 32) * 0xD6E8FEB86659FD93UL;
  return (double)(mixed >> 11) / (double)(1UL << 53);
}

static long share_of_call(long now) {
  if (*kind == 'f') return planted_ns;
  if (*kind == 'n') return 0;
  if (*kind == 'r') return (long)(2 * chance(slot_of(now)) * (double)planted_ns);
  if (*kind == 'g')
    return planted_ns / 2 + (long)((double)planted_ns / 2 * (double)ns_since(first_ticks, now) / NS_PER_S);
  if (*kind == 's' && kind[1] == 'e') {
    const long slot = slot_of(now), slots = slot - slot_of(first_ticks) + 1;
    if (slot == last_slot) return 0;
    last_slot = slot;
    return chance(slot) * (double)every * (double)slots < (double)calls ? planted_ns * every : 0;
  }
  return calls % every == 0 && is_here ? planted_ns * every : 0;
}

/* What the last call paid is booked in the next one, so that the time of booking is paid, too. */
static long unbooked_ns, unbooked_end;

static void book(void) {
  if (unbooked_ns == 0) return;
  paid_ns += unbooked_ns;
  if (payments < PAYMENTS) {
    paid[payments].end = unbooked_end;
    paid[payments++].ns = unbooked_ns;
  }
  unbooked_ns = 0;
}

static void pay(void) {
  const long begin = ticks();
  ++calls;
  if (planted_ns == 0) return;
  book();
  const long share = share_of_call(begin);
  if (share && strcmp(kind, "sweeping") == 0)
    sweep(share);
  else if (share)
    work((long)((double)share * steps_a_ns));
  const long end = ticks(), took = (long)((double)(end - begin) / ticks_a_ns + clock_ns);
  const int was_interrupted = took > 2 * share + 1000;
  unbooked_end = end;
  unbooked_ns = was_interrupted ? share : took;
}

static void opens(MPI_Request request) {
  if (!KNOWS_REQUESTS) return;
  if (open_count < MOST) open_requests[open_count++] = request;
}

static void closes(MPI_Request request) {
  if (!KNOWS_REQUESTS || request == MPI_REQUEST_NULL) return;
  for (int i = 0; i < open_count; i++)
    if (open_requests[i] == request) {
      open_requests[i] = open_requests[--open_count];
      return;
    }
  ++unknown;
}

__attribute__((constructor)) static void start(void) {
  const char* text = getenv("PLANTED_NS");
  planted_ns = text ? atol(text) : 0;
  long last_ns, last_ticks;
  read_both(&first_ns, &first_ticks);
  while (now_ns() < first_ns + 5000000) {
  }
  read_both(&last_ns, &last_ticks);
  ticks_a_ns = (double)(last_ticks - first_ticks) / (double)(last_ns - first_ns);
  if (getenv("PLANTED_KIND")) kind = getenv("PLANTED_KIND");
  if (getenv("PLANTED_EVERY")) every = atol(getenv("PLANTED_EVERY"));
  /* The least of many: an interruption would be taken for a cost of each call. */
  enum { STEPS = 20000, READINGS = 1000, TIMES = 50 };
  long of_steps = NS_PER_S, of_readings = NS_PER_S;
  for (int i = 0; i < TIMES; i++) {
    const long from = now_ns();
    work(STEPS);
    const long worked_at = now_ns();
    for (int j = 0; j < READINGS; j++) ticks();
    const long read_at = now_ns();
    if (worked_at - from < of_steps) of_steps = worked_at - from;
    if (read_at - worked_at < of_readings) of_readings = read_at - worked_at;
  }
  steps_a_ns = (double)STEPS / (double)of_steps;
  clock_ns = (double)of_readings / READINGS;
}

static void write_payments(void) {
  char path[4096];
  if (getenv("PLANTED_PAYMENTS") == NULL) return;
  snprintf(path, sizeof path, "%s.%d", getenv("PLANTED_PAYMENTS"), (int)getpid());
  FILE* file = fopen(path, "wb");
  if (file == NULL) return;
  /* Only the whole run tells the pace of the counter well enough. */
  long last_ns, last_ticks;
  read_both(&last_ns, &last_ticks);
  const double ns_a_tick = (double)(last_ns - first_ns) / (double)(last_ticks - first_ticks);
  for (long i = 0; i < payments; i++) paid[i].end = first_ns + (long)(ns_a_tick * (double)(paid[i].end - first_ticks));
  fwrite(paid, sizeof *paid, (size_t)payments, file);
  fclose(file);
}

static void wait_in_hook(void) {
  if (getenv("PLANTED_HOOK_MS")) usleep((useconds_t)(1000 * atol(getenv("PLANTED_HOOK_MS"))));
}

int MPI_Init(int* argc, char*** argv) {
  int rank = 0;
  wait_in_hook();
  ++inits;
  const int result = PMPI_Init(argc, argv);
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  is_here = rank == 0 || strcmp(kind, "one") != 0;
  return result;
}

int MPI_Finalize(void) {
  book();
  printf("%s: inits %ld calls %ld paid %.1f unknown %ld open %d made %ld freed %ld\n", NAME, inits, calls,
         calls ? (double)paid_ns / (double)calls : 0.0, unknown, open_count, made, freed);
  fflush(stdout);
  write_payments();
  wait_in_hook();
  return PMPI_Finalize();
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* new) {
  ++made;
  return PMPI_Comm_dup(comm, new); /* compiled to a jump */
}

int MPI_Comm_free(MPI_Comm* comm) {
  const int result = PMPI_Comm_free(comm);
  ++freed;
  return result;
}

int MPI_Sendrecv(const void* out, int n, MPI_Datatype type, int to, int tag, void* in, int m, MPI_Datatype type2,
                 int from, int tag2, MPI_Comm comm, MPI_Status* status) {
  pay();
  return PMPI_Sendrecv(out, n, type, to, tag, in, m, type2, from, tag2, comm, status);
}

static int own_isend(const void* data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  pay();
  const int result = PMPI_Isend(data, n, type, to, tag, comm, request);
  opens(*request);
  return result;
}

static int own_irecv(void* data, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* request) {
  pay();
  const int result = PMPI_Irecv(data, n, type, from, tag, comm, request);
  opens(*request);
  return result;
}

int MPI_Send(const void* data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  pay();
  return PMPI_Send(data, n, type, to, tag, comm);
}

int MPI_Barrier(MPI_Comm comm) {
  pay();
  return PMPI_Barrier(comm);
}

int MPI_Allreduce(const void* out, void* in, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  pay();
  return PMPI_Allreduce(out, in, n, type, op, comm);
}

int MPI_Startall(int n, MPI_Request* requests) {
  for (int i = 0; i < n; i++) opens(requests[i]);
  return PMPI_Startall(n, requests);
}

static MPI_Request before[MOST];

static void remember(int n, const MPI_Request* requests) {
  if (!KNOWS_REQUESTS) return;
  for (int i = 0; i < n; i++) before[i] = requests[i];
}

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  closes(*request);
  return PMPI_Wait(request, status);
}

static int own_waitall(int n, MPI_Request* requests, MPI_Status* statuses) {
  for (int i = 0; i < n; i++) closes(requests[i]);
  return PMPI_Waitall(n, requests, statuses);
}

int MPI_Waitany(int n, MPI_Request* requests, int* index, MPI_Status* status) {
  remember(n, requests);
  const int result = PMPI_Waitany(n, requests, index, status);
  if (*index >= 0) closes(before[*index]);
  return result;
}

int MPI_Waitsome(int n, MPI_Request* requests, int* count, int* indices, MPI_Status* statuses) {
  remember(n, requests);
  const int result = PMPI_Waitsome(n, requests, count, indices, statuses);
  for (int i = 0; i < *count; i++) closes(before[indices[i]]);
  return result;
}

int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  remember(1, request);
  const int result = PMPI_Test(request, flag, status);
  if (*flag) closes(before[0]);
  return result;
}

int MPI_Testall(int n, MPI_Request* requests, int* flag, MPI_Status* statuses) {
  remember(n, requests);
  const int result = PMPI_Testall(n, requests, flag, statuses);
  for (int i = 0; *flag && i < n; i++) closes(before[i]);
  return result;
}

int MPI_Testany(int n, MPI_Request* requests, int* index, int* flag, MPI_Status* status) {
  remember(n, requests);
  const int result = PMPI_Testany(n, requests, index, flag, status);
  if (*flag && *index >= 0) closes(before[*index]);
  return result;
}

int MPI_Testsome(int n, MPI_Request* requests, int* count, int* indices, MPI_Status* statuses) {
  remember(n, requests);
  const int result = PMPI_Testsome(n, requests, count, indices, statuses);
  for (int i = 0; i < *count; i++) closes(before[indices[i]]);
  return result;
}

int MPI_Isend(const void* data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  return own_isend(data, n, type, to, tag, comm, request);
}

int MPI_Irecv(void* data, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* request) {
  return own_irecv(data, n, type, from, tag, comm, request);
}

int MPI_Waitall(int n, MPI_Request* requests, MPI_Status* statuses) { return own_waitall(n, requests, statuses); }

#ifdef FORTRAN
void mpi_isend_(void* data, MPI_Fint* n, MPI_Fint* type, MPI_Fint* to, MPI_Fint* tag, MPI_Fint* comm, MPI_Fint* request,
                MPI_Fint* error) {
  MPI_Request made;
  *error = own_isend(data, *n, PMPI_Type_f2c(*type), *to, *tag, PMPI_Comm_f2c(*comm), &made);
  *request = PMPI_Request_c2f(made);
}

void mpi_irecv_(void* data, MPI_Fint* n, MPI_Fint* type, MPI_Fint* from, MPI_Fint* tag, MPI_Fint* comm,
                MPI_Fint* request, MPI_Fint* error) {
  MPI_Request made;
  *error = own_irecv(data, *n, PMPI_Type_f2c(*type), *from, *tag, PMPI_Comm_f2c(*comm), &made);
  *request = PMPI_Request_c2f(made);
}

void mpi_waitall_(MPI_Fint* n, MPI_Fint* requests, MPI_Fint* statuses, MPI_Fint* error) {
  MPI_Request all[MOST];
  (void)statuses;
  for (int i = 0; i < *n; i++) all[i] = PMPI_Request_f2c(requests[i]);
  *error = own_waitall(*n, all, MPI_STATUSES_IGNORE);
  for (int i = 0; i < *n; i++) requests[i] = PMPI_Request_c2f(all[i]);
}

void mpi_finalize_(MPI_Fint* error) { *error = MPI_Finalize(); }
#endif

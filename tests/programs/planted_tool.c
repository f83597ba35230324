/* A tool whose cost is known: it takes PLANTED_NS ns in each call that moves data or completes a request, and says at the
 * end how many it really was. It also knows which requests are open, as tools do. Completions of requests whose start it
 * has not seen, and starts whose completion it has not seen, are what a referee must not make.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifndef NAME
#  define NAME "planted"
#endif

enum { MOST = 64 };

static long planted_ns, clock_ns, paid_ns, payments, calls, unknown, made, freed, inits;
static MPI_Request open_requests[MOST];
static int open_count;

static long now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000L + time.tv_nsec;
}

static void pay(void) {
  ++calls;
  if (planted_ns == 0) return;
  const long begin = now_ns();
  long now = begin;
  while (now < begin + planted_ns) now = now_ns();
  if (now - begin > 2 * planted_ns) return; /* it was interrupted */
  paid_ns += now - begin + clock_ns;
  ++payments;
}

static void opens(MPI_Request request) {
  if (open_count < MOST) open_requests[open_count++] = request;
}

static void closes(MPI_Request request) {
  if (request == MPI_REQUEST_NULL) return;
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
  const long begin = now_ns();
  for (int i = 1; i < 1000; i++) now_ns();
  clock_ns = (now_ns() - begin) / 1000;
}

int MPI_Init(int* argc, char*** argv) {
  ++inits;
  return PMPI_Init(argc, argv);
}

int MPI_Finalize(void) {
  printf("%s: inits %ld calls %ld paid %.1f unknown %ld open %d made %ld freed %ld\n", NAME, inits, calls,
         payments ? (double)paid_ns / (double)payments : 0.0, unknown, open_count, made, freed);
  fflush(stdout);
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

int MPI_Startall(int n, MPI_Request* requests) {
  for (int i = 0; i < n; i++) opens(requests[i]);
  return PMPI_Startall(n, requests);
}

static MPI_Request before[MOST];

static void remember(int n, const MPI_Request* requests) {
  for (int i = 0; i < n; i++) before[i] = requests[i];
}

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  pay();
  closes(*request);
  return PMPI_Wait(request, status);
}

static int own_waitall(int n, MPI_Request* requests, MPI_Status* statuses) {
  pay();
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

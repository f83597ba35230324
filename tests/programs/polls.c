/* polls MISSES ROUNDS: one rank polls, with each function that does so, MISSES times for a message that has not been sent,
   then until the message is there; ROUNDS times. Among the requests are null ones and one that is never started. Prints
   as JSON how often it called each function, how many messages of how many bytes it received, and the seconds that
   the unsuccessful polls took. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { test, testany, testsome, testall, iprobe, improbe, status, kinds };
static const char* const names[kinds] = {"MPI_Test",   "MPI_Testany", "MPI_Testsome",          "MPI_Testall",
                                         "MPI_Iprobe", "MPI_Improbe", "MPI_Request_get_status"};
enum { idle = 0, wanted = 1, null = 2, other = 3, all = 4 };

static MPI_Request requests[all]; /* idle: never started; wanted: what comes; other: comes at the end */
static long calls[kinds];
static double in_vain;
static double here[kinds + 1], there[kinds + 1];
static MPI_Message message;

/* From one place for every kind, so that each has one call site. */
static int poll(int kind) {
  int flag = 0, index, done, indices[all];
  MPI_Status at;
  calls[kind]++;
  switch (kind) {
    case test:
      MPI_Test(&requests[wanted], &flag, MPI_STATUS_IGNORE);
      break;
    case testany:
      MPI_Testany(all, requests, &index, &flag, &at);
      if (flag && index != wanted) MPI_Abort(MPI_COMM_WORLD, 2);
      break;
    case testsome:
      MPI_Testsome(all, requests, &done, indices, MPI_STATUSES_IGNORE);
      flag = done == 1 && indices[0] == wanted;
      break;
    case testall: {
      MPI_Request both[3] = {requests[idle], requests[wanted], MPI_REQUEST_NULL};
      MPI_Testall(3, both, &flag, MPI_STATUSES_IGNORE);
      requests[wanted] = both[1];
      break;
    }
    case iprobe:
      MPI_Iprobe(0, iprobe, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
      break;
    case improbe:
      MPI_Improbe(0, improbe, MPI_COMM_SELF, &flag, &message, MPI_STATUS_IGNORE);
      break;
    default:
      MPI_Request_get_status(requests[wanted], &flag, MPI_STATUS_IGNORE);
  }
  return flag;
}

static void receive(int kind, int misses) {
  const int count = kind + 1;
  const int probes = kind == iprobe || kind == improbe;
  MPI_Request sent;
  if (!probes) MPI_Irecv(here, count, MPI_DOUBLE, 0, kind, MPI_COMM_SELF, &requests[wanted]);
  const double begin = MPI_Wtime();
  for (int i = 0; i < misses; i++)
    if (poll(kind)) MPI_Abort(MPI_COMM_WORLD, 1);
  in_vain += MPI_Wtime() - begin;
  MPI_Isend(there, count, MPI_DOUBLE, 0, kind, MPI_COMM_SELF, &sent);
  while (!poll(kind));
  if (kind == iprobe) MPI_Recv(here, count, MPI_DOUBLE, 0, kind, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  if (kind == improbe) MPI_Mrecv(here, count, MPI_DOUBLE, &message, MPI_STATUS_IGNORE);
  if (kind == status) MPI_Wait(&requests[wanted], MPI_STATUS_IGNORE);
  MPI_Wait(&sent, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int misses = argc > 1 ? atoi(argv[1]) : 1;
  const int rounds = argc > 2 ? atoi(argv[2]) : 1;
  long bytes = 0;
  int flag;
  requests[null] = MPI_REQUEST_NULL;
  MPI_Recv_init(here, 1, MPI_DOUBLE, 0, 98, MPI_COMM_SELF, &requests[idle]);
  MPI_Irecv(&there[kinds], 1, MPI_DOUBLE, 0, 99, MPI_COMM_SELF, &requests[other]);
  for (int kind = 0; kind < kinds; kind++)
    for (int round = 0; round < rounds; round++) {
      receive(kind, misses);
      bytes += 8 * (kind + 1);
    }
  /* A null request, and one that is not active, count as complete. */
  for (int i = 0; i < 2; i++) {
    calls[test]++;
    MPI_Test(i ? &requests[null] : &requests[idle], &flag, MPI_STATUS_IGNORE);
    if (!flag) MPI_Abort(MPI_COMM_WORLD, 3);
  }
  MPI_Sendrecv(&here[kinds], 1, MPI_DOUBLE, 0, 99, &here[0], 0, MPI_DOUBLE, MPI_PROC_NULL, 0, MPI_COMM_SELF,
               MPI_STATUS_IGNORE);
  MPI_Wait(&requests[other], MPI_STATUS_IGNORE);
  MPI_Request_free(&requests[idle]);
  printf("{\"messages\": %d, \"bytes\": %ld, \"in_vain_s\": %.9f", kinds * rounds + 1, bytes + 8, in_vain);
  for (int kind = 0; kind < kinds; kind++) printf(", \"%s\": %ld", names[kind], calls[kind]);
  puts("}");
  MPI_Finalize();
  return 0;
}

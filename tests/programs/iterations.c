/* usage: iterations ROUNDS [MESSAGES [alone|early|started]] : iterations of MESSAGES messages to the next rank, whose
 * sizes tell the iteration, then one collective of all ranks; none if `alone`. With `early` every third iteration posts
 * its first receive before the collective of the one before; with `started` this receive is a persistent request.
 * Prints "ok" where all data were right. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most = 64, longest = 499 };

static int length_of(int round) { return 1 + round % longest; }

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rounds = argc > 1 ? atoi(argv[1]) : 1000;
  int messages = argc > 2 ? atoi(argv[2]) : 8;
  if (messages > most) messages = most;
  const int alone = argc > 3 && strcmp(argv[3], "alone") == 0, early = argc > 3 && strcmp(argv[3], "early") == 0,
            started = argc > 3 && strcmp(argv[3], "started") == 0;
  int rank, size, wrong = 0, is_posted = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  static int in[most][longest], out[longest];
  MPI_Request requests[2 * most], persistent;
  MPI_Recv_init(in[0], longest, MPI_INT, left, 0, MPI_COMM_WORLD, &persistent);
  for (int round = 0; round < rounds; ++round) {
    const int length = length_of(round);
    for (int i = 0; i < length; ++i) out[i] = round;
    for (int i = is_posted; i < messages; ++i)
      MPI_Irecv(in[i], longest, MPI_INT, left, 0, MPI_COMM_WORLD, &requests[i]);
    for (int i = 0; i < messages; ++i)
      MPI_Isend(out, length, MPI_INT, right, 0, MPI_COMM_WORLD, &requests[messages + i]);
    MPI_Waitall(2 * messages, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < messages; ++i) wrong += in[i][length - 1] != round;
    is_posted = (early || started) && round % 3 == 1 && round + 1 < rounds;
    if (is_posted && started) {
      MPI_Start(&persistent);
      requests[0] = persistent;
    } else if (is_posted) {
      MPI_Irecv(in[0], longest, MPI_INT, left, 0, MPI_COMM_WORLD, &requests[0]);
    }
    int sum = rank;
    if (!alone) MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    wrong += !alone && sum != size * (size - 1) / 2;
  }
  MPI_Request_free(&persistent);
  if (wrong == 0) printf("ok\n");
  MPI_Finalize();
  return wrong != 0;
}

/* usage: late ROUNDS : each rank sends to the next before a collective of all ranks, and receives after it. The sizes
 * of the messages tell the round. They are small enough for MPI to buffer them. Prints "ok" where all data were right.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { messages = 4, longest = 499 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rounds = argc > 1 ? atoi(argv[1]) : 1000;
  int rank, size, sum, wrong = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  static int in[longest], out[longest];
  for (int round = 0; round < rounds; ++round) {
    const int length = 1 + round % longest;
    for (int i = 0; i < length; ++i) out[i] = round;
    for (int i = 0; i < messages; ++i) MPI_Send(out, length, MPI_INT, right, 0, MPI_COMM_WORLD);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < messages; ++i) {
      MPI_Recv(in, longest, MPI_INT, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      wrong += in[length - 1] != round;
    }
  }
  if (wrong == 0) printf("ok\n");
  MPI_Finalize();
  return wrong != 0;
}

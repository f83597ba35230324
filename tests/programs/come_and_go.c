/* come_and_go ROUNDS: in each round two communicators are made, one from the other, used, and freed; then other lines
   call MPI on MPI_COMM_WORLD. Prints "ok".
   come_and_go ROUNDS nested: each communicator is made from the one before it. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((noinline)) static void round_of(MPI_Comm parent, int rank) {
  MPI_Comm copy, reversed;
  MPI_Comm_dup(parent, &copy);
  MPI_Barrier(copy);
  MPI_Comm_split(copy, 0, -rank, &reversed);
  MPI_Comm_set_name(reversed, "reversed");
  int other = 0;
  MPI_Sendrecv(&rank, 1, MPI_INT, rank ^ 1, 3, &other, 1, MPI_INT, rank ^ 1, 3, reversed, MPI_STATUS_IGNORE);
  MPI_Comm_free(&reversed);
  MPI_Comm_free(&copy);
}

__attribute__((noinline)) static void nested_in(MPI_Comm parent, int rounds) {
  MPI_Comm copy;
  MPI_Comm_dup(parent, &copy);
  MPI_Barrier(copy);
  if (rounds > 1) nested_in(copy, rounds - 1);
  MPI_Comm_free(&copy);
}

__attribute__((noinline)) static void afterwards(int rank) {
  int sum = 0;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Bcast(&sum, 1, MPI_INT, 0, MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc > 2 && strcmp(argv[2], "nested") == 0)
    nested_in(MPI_COMM_WORLD, atoi(argv[1]));
  else
    for (int i = atoi(argv[1]); i > 0; --i) round_of(MPI_COMM_WORLD, rank);
  afterwards(rank);
  MPI_Finalize();
  if (rank == 0) puts("ok");
  return 0;
}

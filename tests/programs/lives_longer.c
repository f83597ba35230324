// Rank 0 sends messages of 1, 2, 3, ... bytes to rank 1, with a barrier behind each. Rank 1 then lives for a second
// longer.
#include <mpi.h>
#include <unistd.h>

enum { messages = 40 };

int main(int argc, char** argv) {
  char data[messages] = {0};
  int rank = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int bytes = 1; bytes <= messages; ++bytes) {
    if (rank == 0) MPI_Send(data, bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
    if (rank == 1) MPI_Recv(data, messages, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    usleep(50000);
  }
  MPI_Finalize();
  if (rank == 1) sleep(1);
  return 0;
}

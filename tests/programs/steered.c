/* usage: steered FILE : iterations until FILE is there, each with an offload point, after which each rank asks for
 * messages of users. All ranks compare what they have got at each point. Prints "rank point name type value lost" for
 * each. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <tare/tare.h>
#include <unistd.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, all_see = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int point = 1; !all_see; ++point) {
    const int seen = argc > 1 && access(argv[1], F_OK) == 0;
    usleep(2000);
    MPI_Allreduce(&seen, &all_see, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    tare_offload();
    tare_control_message message;
    while (tare_control(&message)) {
      printf("%d %d %s %d %lld %g '%s' %llu\n", rank, point, message.name, (int)message.type,
             (long long)message.integer, message.real, message.text, (unsigned long long)message.lost);
      fflush(stdout);
    }
  }
  MPI_Finalize();
  return 0;
}

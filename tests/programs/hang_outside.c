/* Programs that hang outside MPI: hang_outside read: rank 0 reads a pipe into which nobody writes. hang_outside openmp:
 * a thread of rank 0 never comes to the barrier of its region. hang_outside deadlock: two ranks receive from each
 * other, while the threads of their teams are idle. In all, the other rank waits in MPI. */
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <omp.h>
#include <string.h>
#include <unistd.h>

static int rank;

static void wait_for_a_byte(void) {
  int ends[2];
  char byte;
  if (pipe(ends) == 0) (void)!read(ends[0], &byte, 1);
}

static void wait_in_a_barrier(void) {
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 1) pause();
#pragma omp barrier
  }
}

static void receive_from_each_other(void) {
  int value;
#pragma omp parallel num_threads(2)
  usleep(1000);
  MPI_Recv(&value, 1, MPI_INT, 1 - rank, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (strcmp(argv[1], "deadlock") == 0) receive_from_each_other();
  if (rank == 0 && strcmp(argv[1], "read") == 0) wait_for_a_byte();
  if (rank == 0 && strcmp(argv[1], "openmp") == 0) wait_in_a_barrier();
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
}

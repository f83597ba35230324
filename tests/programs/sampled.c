/* sampled COUNT [SPEC [file]]: two ranks exchange COUNT messages of 16 bytes by MPI_Send and of 4096 bytes by MPI_Isend, on a
 * communicator called "pairs"; the second half of them in the phase "second half". Rank 0 alone sends on MPI_COMM_WORLD,
 * as often. SPEC: what is sampled from the second half on, by tare_sample(),
 * whose result is printed, or by the file in the run directory, which ranks then have time to look at: they do so after
 * sends and receives, one rank of a node once a second and the others a tenth of a second after it. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Those of libtare.so; absent if it is not there. */
int tare_sample(const char* spec) __attribute__((weak));
unsigned tare_define_phase(const char* name) __attribute__((weak));
void tare_begin_phase(unsigned phase) __attribute__((weak));
void tare_end_phase(unsigned phase) __attribute__((weak));

static char buffer[4096];

static void exchange(MPI_Comm pairs, int rank) {
  MPI_Request request;
  if (rank == 0) {
    MPI_Send(buffer, 16, MPI_BYTE, 1, 0, pairs);
    MPI_Isend(buffer, 4096, MPI_BYTE, 1, 1, pairs, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Send(buffer, 16, MPI_BYTE, 1, 2, MPI_COMM_WORLD);
  } else {
    MPI_Recv(buffer, 4096, MPI_BYTE, 0, 0, pairs, MPI_STATUS_IGNORE);
    MPI_Recv(buffer, 4096, MPI_BYTE, 0, 1, pairs, MPI_STATUS_IGNORE);
    MPI_Recv(buffer, 4096, MPI_BYTE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

static void look_around(MPI_Comm pairs, int rank) {
  for (int i = 0; i < 4; ++i) {
    if (rank == 0)
      MPI_Send(buffer, 4096, MPI_BYTE, 1, 0, pairs);
    else
      MPI_Recv(buffer, 4096, MPI_BYTE, 0, 0, pairs, MPI_STATUS_IGNORE);
    MPI_Barrier(pairs);
    usleep(150000);
  }
}

int main(int argc, char** argv) {
  int rank;
  MPI_Comm pairs;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_dup(MPI_COMM_WORLD, &pairs);
  MPI_Comm_set_name(pairs, "pairs");
  const int count = atoi(argv[1]);
  for (int i = 0; i < count / 2; ++i) exchange(pairs, rank);
  MPI_Barrier(pairs);
  unsigned phase = tare_define_phase != NULL ? tare_define_phase("second half") : 0;
  if (argc > 3 && rank == 0) {
    char name[4096];
    snprintf(name, sizeof name, "%s/sample", getenv("TARE_RUN_DIR"));
    FILE* file = fopen(name, "w");
    fprintf(file, "%s\n", argv[2]);
    fclose(file);
    usleep(1100000);
  } else if (argc > 2 && rank == 0) {
    printf("%d\n", tare_sample != NULL ? tare_sample(argv[2]) : -2);
  }
  MPI_Barrier(pairs);
  if (argc > 3) look_around(pairs, rank);
  if (tare_begin_phase != NULL) tare_begin_phase(phase);
  for (int i = 0; i < count / 2; ++i) exchange(pairs, rank);
  if (tare_end_phase != NULL) tare_end_phase(phase);
  MPI_Comm_free(&pairs);
  MPI_Finalize();
  return 0;
}

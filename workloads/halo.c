/* halo: the exchange of faces that most grid codes do, in three dimensions.
 *
 * The ranks form a periodic 3-D grid (MPI_Dims_create, MPI_Cart_create). In each iteration a rank
 * posts 6 MPI_Irecv, packs its 6 faces, sends them with 6 MPI_Isend, updates its inner cells, and
 * completes all 12 requests with one MPI_Waitall. Every CHECK iterations an MPI_Allreduce stands
 * for the test of convergence.
 *
 * usage: halo [-n NX NY NZ] [-i ITERATIONS] [-c CHECK] [-w WORK]
 *   -n  cells of a rank, 8 bytes each; a face in x has NY*NZ cells   (32 32 32)
 *   -i  iterations                                                   (1000)
 *   -c  iterations between two checks; 0: none                       (10)
 *   -w  passes over the cells in an iteration                        (1)
 *
 * Rank 0 prints one line of JSON:
 *   {"ranks": 2, "iterations": 1000, "face_bytes": [8192, 8192, 8192], "iteration_ns": 41210.5, "sum": 1.0}
 * where sum, the mean of all cells, must stay 1. Exit code 1 when it does not, 2 on wrong usage.
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIMENSIONS = 3, FACES = 2 * DIMENSIONS };

typedef struct {
  int cells[DIMENSIONS];
  int iterations, check, work;
} Options;

typedef struct {
  MPI_Comm comm;
  int neighbours[FACES];
  int face_cells[FACES];
  double* cells;
  double *sent[FACES], *received[FACES];
} Domain;

static int parse(int argc, char** argv, Options* options) {
  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "-n") && i + DIMENSIONS < argc)
      for (int d = 0; d < DIMENSIONS; d++) options->cells[d] = atoi(argv[++i]);
    else if (!strcmp(argv[i], "-i") && i + 1 < argc)
      options->iterations = atoi(argv[++i]);
    else if (!strcmp(argv[i], "-c") && i + 1 < argc)
      options->check = atoi(argv[++i]);
    else if (!strcmp(argv[i], "-w") && i + 1 < argc)
      options->work = atoi(argv[++i]);
    else
      return 0;
  }
  return options->cells[0] > 0 && options->cells[1] > 0 && options->cells[2] > 0 && options->iterations > 0 &&
         options->check >= 0 && options->work >= 0;
}

static double* allocate(size_t count, double value) {
  double* memory = malloc(count * sizeof(double));
  if (!memory) {
    fprintf(stderr, "halo: out of memory; use fewer cells (-n)\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  for (size_t i = 0; i < count; i++) memory[i] = value;
  return memory;
}

static size_t count_cells(const Options* options) {
  return (size_t)options->cells[0] * (size_t)options->cells[1] * (size_t)options->cells[2];
}

static Domain create(const Options* options) {
  Domain domain;
  int size, processes[DIMENSIONS] = {0}, periodic[DIMENSIONS] = {1, 1, 1};
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Dims_create(size, DIMENSIONS, processes);
  MPI_Cart_create(MPI_COMM_WORLD, DIMENSIONS, processes, periodic, 0, &domain.comm);
  domain.cells = allocate(count_cells(options), 1.0);
  for (int d = 0; d < DIMENSIONS; d++) {
    MPI_Cart_shift(domain.comm, d, 1, &domain.neighbours[2 * d], &domain.neighbours[2 * d + 1]);
    for (int face = 2 * d; face < 2 * d + 2; face++) {
      domain.face_cells[face] = options->cells[(d + 1) % DIMENSIONS] * options->cells[(d + 2) % DIMENSIONS];
      domain.sent[face] = allocate((size_t)domain.face_cells[face], 0.0);
      domain.received[face] = allocate((size_t)domain.face_cells[face], 0.0);
    }
  }
  return domain;
}

static void destroy(Domain* domain) {
  for (int face = 0; face < FACES; face++) {
    free(domain->sent[face]);
    free(domain->received[face]);
  }
  free(domain->cells);
  MPI_Comm_free(&domain->comm);
}

/* The cells of a face in the order of the array; `from_face` says which way they are copied. */
static void copy_face(const Options* options, double* cells, int face, double* packed, int from_face) {
  int low[DIMENSIONS] = {0}, high[DIMENSIONS] = {options->cells[0], options->cells[1], options->cells[2]};
  if (face % 2)
    low[face / 2] = options->cells[face / 2] - 1;
  else
    high[face / 2] = 1;
  for (int z = low[2]; z < high[2]; z++)
    for (int y = low[1]; y < high[1]; y++)
      for (int x = low[0]; x < high[0]; x++) {
        double* cell =
            &cells[((size_t)z * (size_t)options->cells[1] + (size_t)y) * (size_t)options->cells[0] + (size_t)x];
        if (from_face)
          *cell = 0.5 * (*cell + *packed++);
        else
          *packed++ = *cell;
      }
}

/* Replaces each cell by the mean of itself and the next: keeps the mean of a constant field. */
static void update(double* cells, size_t count) {
  for (size_t i = 0; i + 1 < count; i++) cells[i] = 0.5 * (cells[i] + cells[i + 1]);
}

static void exchange(const Options* options, Domain* domain) {
  MPI_Request requests[2 * FACES];
  for (int face = 0; face < FACES; face++)
    MPI_Irecv(domain->received[face], domain->face_cells[face], MPI_DOUBLE, domain->neighbours[face], face ^ 1,
              domain->comm, &requests[face]);
  for (int face = 0; face < FACES; face++) {
    copy_face(options, domain->cells, face, domain->sent[face], 0);
    MPI_Isend(domain->sent[face], domain->face_cells[face], MPI_DOUBLE, domain->neighbours[face], face, domain->comm,
              &requests[FACES + face]);
  }
  for (int pass = 0; pass < options->work; pass++) update(domain->cells, count_cells(options));
  MPI_Waitall(2 * FACES, requests, MPI_STATUSES_IGNORE);
  for (int face = 0; face < FACES; face++) copy_face(options, domain->cells, face, domain->received[face], 1);
}

static double mean(const Options* options, const Domain* domain, int size) {
  double mine = 0.0, all = 0.0;
  for (size_t i = 0; i < count_cells(options); i++) mine += domain->cells[i];
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, domain->comm);
  return all / (double)count_cells(options) / size;
}

static int run(const Options* options) {
  int rank, size;
  Domain domain = create(options);
  MPI_Comm_rank(domain.comm, &rank);
  MPI_Comm_size(domain.comm, &size);
  MPI_Barrier(domain.comm);
  double start = MPI_Wtime();
  for (int i = 1; i <= options->iterations; i++) {
    exchange(options, &domain);
    if (options->check && i % options->check == 0) mean(options, &domain, size);
  }
  MPI_Barrier(domain.comm);
  double iteration_ns = (MPI_Wtime() - start) * 1e9 / options->iterations;
  double sum = mean(options, &domain, size);
  if (rank == 0)
    printf(
        "{\"ranks\": %d, \"iterations\": %d, \"face_bytes\": [%zu, %zu, %zu], \"iteration_ns\": %.1f, "
        "\"sum\": %.6f}\n",
        size, options->iterations, (size_t)domain.face_cells[0] * sizeof(double),
        (size_t)domain.face_cells[2] * sizeof(double), (size_t)domain.face_cells[4] * sizeof(double), iteration_ns,
        sum);
  destroy(&domain);
  return fabs(sum - 1.0) > 1e-9;
}

int main(int argc, char** argv) {
  Options options = {{32, 32, 32}, 1000, 10, 1};
  int rank, status = 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (parse(argc, argv, &options))
    status = run(&options);
  else if (rank == 0)
    fprintf(stderr, "usage: halo [-n NX NY NZ] [-i ITERATIONS] [-c CHECK] [-w WORK]\n");
  MPI_Finalize();
  return status;
}

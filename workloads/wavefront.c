/* wavefront: sweeps of a transport code through a grid, in the manner of Sweep3D.
 *
 * Particles fly in 48 directions through a box with a source in each cell; what flies out is lost. A sweep follows
 * each direction from the corner where it enters to the opposite one, so a cell needs its three neighbours upwind
 * first. The ranks form a 2-D grid of columns (MPI_Dims_create, MPI_Cart_create); for each of the 8 octants, of
 * blocks of its directions and of blocks of planes, a rank receives two faces from upwind (MPI_Recv), computes, and
 * sends two downwind (MPI_Send): wavefronts travel from each corner to the opposite one, and a rank waits for those
 * before it. Smaller blocks start later ranks earlier, and make more messages.
 *
 * Method: K. R. Koch, R. S. Baker, R. E. Alcouffe, "Solution of the first-order form of the 3-D discrete ordinates
 * equation on a massively parallel processor", Trans. Amer. Nuc. Soc. 65 (1992); S6 quadrature, diamond differences
 * without fixups, source iteration. The flux does not depend on the number of ranks.
 *
 * usage: wavefront [-n NX NY NZ] [-k PLANES] [-a DIRECTIONS] [-i SWEEPS]
 *   -n  cells of a rank; the planes are NX x NY       (32 32 32)
 *   -k  planes of a block                             (4)
 *   -a  directions of a block: 1, 2, 3 or 6           (3)
 *   -i  sweeps                                        (10)
 *
 * Rank 0 prints one line of JSON:
 *   {"ranks": 2, "sweeps": 10, "messages": 1280, "sweep_ns": 9102111.0, "flux": 10.630134973, "drift": 2.8e-14}
 * where messages counts those of all ranks and sweeps, flux is the mean of all cells, and drift the largest share of
 * what a sweep's source emits that is neither absorbed nor scattered nor flies out. Exit code 1 when that is more
 * than rounding (1e-12), 2 on wrong usage.
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIRECTIONS = 6, OCTANTS = 8 };

/* Of one octant, level-symmetric; the weights of all octants add up to 1. */
#define NEAR 0.2666354
#define MIDDLE 0.6815077
#define FAR 0.9261810
#define POLE (0.1761262 / OCTANTS)
#define EDGE (1.0 / 3 / OCTANTS - POLE)
static const double cosines[DIRECTIONS][3] = {{FAR, NEAR, NEAR},      {NEAR, FAR, NEAR},      {NEAR, NEAR, FAR},
                                              {NEAR, MIDDLE, MIDDLE}, {MIDDLE, NEAR, MIDDLE}, {MIDDLE, MIDDLE, NEAR}};
static const double weights[DIRECTIONS] = {POLE, POLE, POLE, EDGE, EDGE, EDGE};

/* Per cell, as wide as long: collisions on the way through it, what of them scatters, and what the cell emits. */
static const double collisions = 0.1, scattering = 0.05, emission = 1.0;

typedef struct {
  int cells[3];
  int planes, directions, sweeps;
} Options;

typedef struct {
  MPI_Comm comm;
  int lower[2], upper[2]; /* neighbours in x and y, or MPI_PROC_NULL */
  double *flux, *source;
  double*
      faces[3]; /* what flies into the next cell, by direction of the block: x (planes, y), y (planes, x), z (y, x) */
  double lost;  /* in this sweep, out of the box */
  long messages;
} Domain;

static int parse(int argc, char** argv, Options* options) {
  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "-n") && i + 3 < argc)
      for (int d = 0; d < 3; d++) options->cells[d] = atoi(argv[++i]);
    else if (!strcmp(argv[i], "-k") && i + 1 < argc)
      options->planes = atoi(argv[++i]);
    else if (!strcmp(argv[i], "-a") && i + 1 < argc)
      options->directions = atoi(argv[++i]);
    else if (!strcmp(argv[i], "-i") && i + 1 < argc)
      options->sweeps = atoi(argv[++i]);
    else
      return 0;
  }
  return options->cells[0] > 0 && options->cells[1] > 0 && options->cells[2] > 0 && options->planes > 0 &&
         options->directions > 0 && DIRECTIONS % options->directions == 0 && options->sweeps > 0;
}

static double* allocate(size_t count) {
  double* memory = calloc(count, sizeof(double));
  if (!memory) {
    fprintf(stderr, "wavefront: out of memory; use fewer cells (-n)\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return memory;
}

static size_t count_cells(const Options* options) {
  return (size_t)options->cells[0] * (size_t)options->cells[1] * (size_t)options->cells[2];
}

static Domain create(const Options* options) {
  Domain domain = {0};
  int size, processes[2] = {0}, periodic[2] = {0};
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Dims_create(size, 2, processes);
  MPI_Cart_create(MPI_COMM_WORLD, 2, processes, periodic, 0, &domain.comm);
  for (int d = 0; d < 2; d++) MPI_Cart_shift(domain.comm, d, 1, &domain.lower[d], &domain.upper[d]);
  size_t x = (size_t)options->cells[0], y = (size_t)options->cells[1], a = (size_t)options->directions;
  domain.flux = allocate(count_cells(options));
  domain.source = allocate(count_cells(options));
  domain.faces[0] = allocate((size_t)options->planes * y * a);
  domain.faces[1] = allocate((size_t)options->planes * x * a);
  domain.faces[2] = allocate(x * y * a);
  return domain;
}

static void destroy(Domain* domain) {
  free(domain->flux);
  free(domain->source);
  for (int d = 0; d < 3; d++) free(domain->faces[d]);
  MPI_Comm_free(&domain->comm);
}

static int face_values(const Options* options, int dimension, int planes) {
  return planes * options->cells[1 - dimension] * options->directions;
}

/* The wavefront arrives: nothing flies in from outside the box. */
static void receive_faces(const Options* options, Domain* domain, const int* forward, int planes) {
  for (int d = 0; d < 2; d++) {
    int from = forward[d] ? domain->lower[d] : domain->upper[d], count = face_values(options, d, planes);
    if (from == MPI_PROC_NULL)
      memset(domain->faces[d], 0, (size_t)count * sizeof(double));
    else
      MPI_Recv(domain->faces[d], count, MPI_DOUBLE, from, d, domain->comm, MPI_STATUS_IGNORE);
  }
}

/* What leaves through a face of a cell, of all places of the face, by the direction's cosine and weight. */
static double leaving(const Options* options, const double* face, int places, int first, int dimension) {
  double sum = 0;
  for (int place = 0; place < places; place++)
    for (int a = 0; a < options->directions; a++)
      sum += weights[first + a] * cosines[first + a][dimension] * face[place * options->directions + a];
  return sum;
}

static void send_faces(const Options* options, Domain* domain, const int* forward, int planes, int first) {
  for (int d = 0; d < 2; d++) {
    int to = forward[d] ? domain->upper[d] : domain->lower[d], count = face_values(options, d, planes);
    if (to == MPI_PROC_NULL) {
      domain->lost += leaving(options, domain->faces[d], count / options->directions, first, d);
    } else {
      MPI_Send(domain->faces[d], count, MPI_DOUBLE, to, d, domain->comm);
      domain->messages++;
    }
  }
}

/* One cell, in all directions of a block: its flux, and what flies out of it in place of what flew in. */
static double pass_cell(const Options* options, double source, double* x, double* y, double* z, int first) {
  double flux = 0;
  for (int a = 0; a < options->directions; a++) {
    const double* c = cosines[first + a];
    double mean = (source + 2 * (c[0] * x[a] + c[1] * y[a] + c[2] * z[a])) / (collisions + 2 * (c[0] + c[1] + c[2]));
    x[a] = 2 * mean - x[a];
    y[a] = 2 * mean - y[a];
    z[a] = 2 * mean - z[a];
    flux += weights[first + a] * mean;
  }
  return flux;
}

/* Planes [first_plane, first_plane + planes) as the octant counts them, in its order. */
static void compute(const Options* options, Domain* domain, const int* forward, int first_plane, int planes,
                    int first) {
  const int *n = options->cells, a = options->directions;
  for (int k = 0; k < planes; k++) {
    int z = forward[2] ? first_plane + k : n[2] - 1 - first_plane - k;
    for (int j = 0; j < n[1]; j++) {
      int y = forward[1] ? j : n[1] - 1 - j;
      for (int i = 0; i < n[0]; i++) {
        int x = forward[0] ? i : n[0] - 1 - i;
        size_t cell = ((size_t)z * (size_t)n[1] + (size_t)y) * (size_t)n[0] + (size_t)x;
        domain->flux[cell] +=
            pass_cell(options, domain->source[cell], &domain->faces[0][(k * n[1] + y) * a],
                      &domain->faces[1][(k * n[0] + x) * a], &domain->faces[2][(y * n[0] + x) * a], first);
      }
    }
  }
}

static void sweep_octant(const Options* options, Domain* domain, int octant) {
  const int forward[3] = {!(octant & 1), !(octant & 2), !(octant & 4)};
  int places = options->cells[0] * options->cells[1];
  for (int first = 0; first < DIRECTIONS; first += options->directions) {
    memset(domain->faces[2], 0, (size_t)(places * options->directions) * sizeof(double));
    for (int plane = 0; plane < options->cells[2]; plane += options->planes) {
      int left = options->cells[2] - plane, planes = left < options->planes ? left : options->planes;
      receive_faces(options, domain, forward, planes);
      compute(options, domain, forward, plane, planes, first);
      send_faces(options, domain, forward, planes, first);
    }
    domain->lost += leaving(options, domain->faces[2], places, first, 2);
  }
}

/* Returns the drift; `flux` is the mean of all cells. */
static double sweep(const Options* options, Domain* domain, double* flux) {
  double mine[3] = {0}, all[3], cells = (double)count_cells(options);
  for (size_t i = 0; i < count_cells(options); i++) {
    domain->source[i] = emission + scattering * domain->flux[i];
    domain->flux[i] = 0;
    mine[0] += domain->source[i];
  }
  domain->lost = 0;
  for (int octant = 0; octant < OCTANTS; octant++) sweep_octant(options, domain, octant);
  for (size_t i = 0; i < count_cells(options); i++) mine[1] += domain->flux[i];
  mine[2] = domain->lost;
  MPI_Allreduce(mine, all, 3, MPI_DOUBLE, MPI_SUM, domain->comm);
  int size;
  MPI_Comm_size(domain->comm, &size);
  *flux = all[1] / cells / size;
  return fabs((collisions * all[1] + all[2]) / all[0] - 1);
}

static int run(const Options* options) {
  int rank, size;
  double drift = 0, flux = 0;
  long messages;
  Domain domain = create(options);
  MPI_Comm_rank(domain.comm, &rank);
  MPI_Comm_size(domain.comm, &size);
  MPI_Barrier(domain.comm);
  double start = MPI_Wtime();
  for (int i = 0; i < options->sweeps; i++) drift = fmax(drift, sweep(options, &domain, &flux));
  MPI_Barrier(domain.comm);
  double sweep_ns = (MPI_Wtime() - start) * 1e9 / options->sweeps;
  MPI_Reduce(&domain.messages, &messages, 1, MPI_LONG, MPI_SUM, 0, domain.comm);
  if (rank == 0)
    printf("{\"ranks\": %d, \"sweeps\": %d, \"messages\": %ld, \"sweep_ns\": %.1f, \"flux\": %.9f, \"drift\": %.1e}\n",
           size, options->sweeps, messages, sweep_ns, flux, drift);
  destroy(&domain);
  if (drift < 1e-12) return 0;
  if (rank == 0) fprintf(stderr, "wavefront: particles were lost or made\n");
  return 1;
}

int main(int argc, char** argv) {
  Options options = {{32, 32, 32}, 4, 3, 10};
  int rank, status = 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (parse(argc, argv, &options))
    status = run(&options);
  else if (rank == 0)
    fprintf(stderr, "usage: wavefront [-n NX NY NZ] [-k PLANES] [-a DIRECTIONS] [-i SWEEPS]\n");
  MPI_Finalize();
  return status;
}

/* zones: a grid in zones, whose borders go by MPI and whose cells are worked on by OpenMP threads.
 *
 * Heat spreads through a ring of zones of COLUMNS x ROWS cells. A rank has ZONES neighbouring ones. In each step its
 * first thread copies the borders between its own zones, exchanges those of the first and the last one with the
 * neighbouring ranks (2 MPI_Irecv, 2 MPI_Isend, one MPI_Waitall), and all its threads spread the heat, zone by zone.
 * Every CHECK steps an MPI_Allreduce adds up the heat, of which none may be lost. Counted on 2 ranks of one thread
 * (Open MPI 4.1): 4 messages a step of 0.2 ms, that is 20,000 messages a second.
 *
 * In the manner of the multi-zone NAS Parallel Benchmarks (R. F. Van der Wijngaart, H. Jin, "NAS Parallel Benchmarks,
 * Multi-Zone Versions", NAS-03-010, 2003), of which SP-MZ is LiTL's test of threads. Method: explicit differences in
 * the form of fluxes, which conserve exactly but for rounding.
 *
 * usage: zones [-z ZONES] [-n COLUMNS ROWS] [-s STEPS] [-c CHECK]
 *   -z  zones of a rank                       (16)
 *   -n  cells of a zone                       (64 64)
 *   -s  steps                                 (1000)
 *   -c  steps between two checks              (50)
 * and OMP_NUM_THREADS. Rank 0 prints one line of JSON:
 *   {"ranks": 2, "threads": 2, "steps": 1000, "step_ns": 201000.5, "lost": 1e-15}
 * where lost is the share of the heat that is lost. Exit code 1 when it is more than rounding, 2 on wrong usage.
 *
 * Compiled with ZONES_EVENTS (and -ltare_record) each thread records two events of its own for each zone that it works
 * on under tare, as a program that is instrumented does: 160,000 a second and thread.
 */
#include <math.h>
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef ZONES_EVENTS
#  include <tare/tare.h>
static tare_id zone_region;
#  define DEFINE_ZONE() (zone_region = tare_define_region("zone"))
#  define ENTER_ZONE() tare_enter(zone_region)
#  define LEAVE_ZONE() tare_leave(zone_region)
#else
#  define DEFINE_ZONE() ((void)0)
#  define ENTER_ZONE() ((void)0)
#  define LEAVE_ZONE() ((void)0)
#endif

enum { LEFT, RIGHT, SIDES };

typedef struct {
  int zones, columns, rows, steps, check;
} Options;

/* Columns 1 to `columns` are cells of its own; 0 and columns + 1 are copies of the neighbours'. */
typedef struct {
  double *now, *next;
} Zone;

typedef struct {
  const Options* options;
  Zone* zones;
  int neighbours[SIDES];
} Part;

static int parse(int argc, char** argv, Options* options) {
  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "-n") && i + 2 < argc) {
      options->columns = atoi(argv[++i]);
      options->rows = atoi(argv[++i]);
    } else if (!strcmp(argv[i], "-z") && i + 1 < argc)
      options->zones = atoi(argv[++i]);
    else if (!strcmp(argv[i], "-s") && i + 1 < argc)
      options->steps = atoi(argv[++i]);
    else if (!strcmp(argv[i], "-c") && i + 1 < argc)
      options->check = atoi(argv[++i]);
    else
      return 0;
  }
  return options->zones > 0 && options->columns > 0 && options->rows > 0 && options->steps > 0 && options->check > 0;
}

static size_t cells_of(const Options* options) { return (size_t)(options->columns + 2) * (size_t)options->rows; }

static double* column(const Options* options, double* cells, int index) {
  return cells + (size_t)index * (size_t)options->rows;
}

static double* allocate(size_t count) {
  double* memory = calloc(count, sizeof(double));
  if (!memory) {
    fprintf(stderr, "zones: out of memory; use fewer cells (-n, -z)\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return memory;
}

static Part create(const Options* options, int rank, int size) {
  Part part = {options, malloc((size_t)options->zones * sizeof(Zone)), {(rank + size - 1) % size, (rank + 1) % size}};
  if (!part.zones) MPI_Abort(MPI_COMM_WORLD, 1);
  for (int zone = 0; zone < options->zones; zone++) {
    part.zones[zone] = (Zone){allocate(cells_of(options)), allocate(cells_of(options))};
    double* hot = column(options, part.zones[zone].now, 1); /* one hot column in each zone */
    for (int row = 0; row < options->rows; row++) hot[row] = 1.0;
  }
  return part;
}

static void destroy(Part* part) {
  for (int zone = 0; zone < part->options->zones; zone++) {
    free(part->zones[zone].now);
    free(part->zones[zone].next);
  }
  free(part->zones);
}

static void exchange(Part* part) {
  const Options* options = part->options;
  const int rows = options->rows, last = options->columns;
  const size_t bytes = (size_t)rows * sizeof(double);
  double *first_cells = part->zones[0].now, *last_cells = part->zones[options->zones - 1].now;
  MPI_Request requests[2 * SIDES];
  MPI_Irecv(column(options, first_cells, 0), rows, MPI_DOUBLE, part->neighbours[LEFT], RIGHT, MPI_COMM_WORLD,
            &requests[0]);
  MPI_Irecv(column(options, last_cells, last + 1), rows, MPI_DOUBLE, part->neighbours[RIGHT], LEFT, MPI_COMM_WORLD,
            &requests[1]);
  MPI_Isend(column(options, last_cells, last), rows, MPI_DOUBLE, part->neighbours[RIGHT], RIGHT, MPI_COMM_WORLD,
            &requests[2]);
  MPI_Isend(column(options, first_cells, 1), rows, MPI_DOUBLE, part->neighbours[LEFT], LEFT, MPI_COMM_WORLD,
            &requests[3]);
  for (int zone = 0; zone + 1 < options->zones; zone++) {
    double *left = part->zones[zone].now, *right = part->zones[zone + 1].now;
    memcpy(column(options, left, last + 1), column(options, right, 1), bytes);
    memcpy(column(options, right, 0), column(options, left, last), bytes);
  }
  MPI_Waitall(2 * SIDES, requests, MPI_STATUSES_IGNORE);
}

/* What flows between two cells is a fifth of their difference; the upper and lower edge let nothing through. */
static void spread(const Options* options, Zone* zone) {
  const double flow = 0.2;
  for (int x = 1; x <= options->columns; x++) {
    const double *here = column(options, zone->now, x), *left = column(options, zone->now, x - 1),
                 *right = column(options, zone->now, x + 1);
    double* next = column(options, zone->next, x);
    for (int y = 0; y < options->rows; y++) {
      const double up = y > 0 ? here[y - 1] : here[y], down = y + 1 < options->rows ? here[y + 1] : here[y];
      next[y] = here[y] + flow * (left[y] + right[y] + up + down - 4.0 * here[y]);
    }
  }
  double* old = zone->now;
  zone->now = zone->next;
  zone->next = old;
}

static void step(Part* part) {
  exchange(part);
#pragma omp parallel for schedule(static)
  for (int zone = 0; zone < part->options->zones; zone++) {
    ENTER_ZONE();
    spread(part->options, &part->zones[zone]);
    LEAVE_ZONE();
  }
}

static double heat(const Part* part) {
  const Options* options = part->options;
  double mine = 0.0, all = 0.0;
#pragma omp parallel for schedule(static) reduction(+ : mine)
  for (int zone = 0; zone < options->zones; zone++)
    for (int x = 1; x <= options->columns; x++)
      for (int y = 0; y < options->rows; y++) mine += column(options, part->zones[zone].now, x)[y];
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

static int run(const Options* options) {
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  DEFINE_ZONE();
  Part part = create(options, rank, size);
  const double whole = heat(&part);
  double lost = 0.0;
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  for (int i = 1; i <= options->steps; i++) {
    step(&part);
    if (i % options->check == 0 || i == options->steps) lost = fmax(lost, fabs(1.0 - heat(&part) / whole));
  }
  const double took = MPI_Wtime() - start;
  if (rank == 0)
    printf("{\"ranks\": %d, \"threads\": %d, \"steps\": %d, \"step_ns\": %.1f, \"lost\": %.1e}\n", size,
           omp_get_max_threads(), options->steps, took / options->steps * 1e9, lost);
  destroy(&part);
  return lost < 1e-9;
}

int main(int argc, char** argv) {
  Options options = {16, 64, 64, 1000, 50};
  int threads;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &threads);
  if (!parse(argc, argv, &options)) {
    fprintf(stderr, "usage: zones [-z ZONES] [-n COLUMNS ROWS] [-s STEPS] [-c CHECK]\n");
    MPI_Finalize();
    return 2;
  }
  const int good = run(&options);
  MPI_Finalize();
  return good ? 0 : 1;
}

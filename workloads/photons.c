/* photons: Monte-Carlo transport of photons through a cylinder, almost without communication.
 *
 * Photons start in the hot core of a cylinder, fly straight to the next collision or zone boundary, lose
 * weight to absorption on the way, and scatter in all directions alike until they leave or their weight is
 * used up. The cylinder is divided into RINGS x SLICES zones with opacities of their own. What is absorbed and
 * what leaves must add up to what was emitted, which the program checks.
 *
 * A run is a batch of photons with a seed of its own, so results do not depend on the number of ranks. Ranks
 * take runs in turn; after each, a rank sends its five tallies to rank 0, which works as well. Counted on 2
 * ranks (Open MPI 4.1): 5 messages a run of 17 ms of processor time, that is 300 messages a second. The opposite
 * of diffusion: what a tool costs here, it costs by itself and not for its events. With PHOTONS_EVENTS (below) it
 * makes 22 million events a second of processor time instead.
 *
 * In the manner of the ASC Purple benchmark SPhot, whose messages a run it has (K. Mohror, K. L. Karavanic, "An
 * investigation of tracing overheads on high end systems", TR-06-06, section 3.2). Method: E. D. Cashwell,
 * C. J. Everett, "A Practical Manual on the Monte Carlo Method for Random Walk Problems", Pergamon, 1959.
 *
 * usage: photons [-r RUNS] [-R RUNS_A_RANK] [-p PHOTONS]
 *   -r  runs in all: strong scaling       (64)
 *   -R  runs of each rank: weak scaling
 *   -p  photons of a run                  (10000)
 * Prints times and tallies. Exit code 1 when energy is lost, 2 on wrong usage.
 *
 * Compiled with PHOTONS_EVENTS (and -ltare_record) it records two events of its own for each flight of a photon
 * under tare: a program in which not MPI makes the events.
 */
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef PHOTONS_EVENTS
#  include <tare/tare.h>
static tare_id flight_region;
#  define DEFINE_FLIGHT() (flight_region = tare_define_region("flight"))
#  define ENTER_FLIGHT() tare_enter(flight_region)
#  define LEAVE_FLIGHT() tare_leave(flight_region)
#else
#  define DEFINE_FLIGHT() ((void)0)
#  define ENTER_FLIGHT() ((void)0)
#  define LEAVE_FLIGHT() ((void)0)
#endif

enum { RINGS = 8, SLICES = 8, ZONES = RINGS * SLICES, BINS = 12 };

static const double height = 1.0, radius = 1.0, min_weight = 1e-3, pi = 3.14159265358979323846;

typedef struct {
  long runs, runs_a_rank, photons;
} Options;

typedef struct {
  double absorbed[ZONES], escaped[BINS]; /* energy by zone; by angle to the axis */
  double emitted, escaped_up;
  long flights;
} Tally;

typedef struct {
  double position[3], direction[3], weight;
} Photon;

static uint64_t random_state;

/* splitmix64 (S. Vigna, public domain). */
static double random_number(void) {
  uint64_t z = (random_state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return ((double)((z ^ (z >> 31)) >> 11) + 0.5) * 0x1p-53;
}

static void any_direction(double* direction) {
  double cosine = 2 * random_number() - 1, sine = sqrt(1 - cosine * cosine), angle = 2 * pi * random_number();
  direction[0] = sine * cos(angle);
  direction[1] = sine * sin(angle);
  direction[2] = cosine;
}

static int clamp(int value, int last) { return value < 0 ? 0 : value > last ? last : value; }

/* The distance along the photon's path to the cylinder of this radius; infinite if it is not met. */
static double distance_to_ring(const Photon* photon, double ring) {
  const double *p = photon->position, *d = photon->direction;
  double a = d[0] * d[0] + d[1] * d[1], b = p[0] * d[0] + p[1] * d[1];
  double c = p[0] * p[0] + p[1] * p[1] - ring * ring, root = b * b - a * c;
  if (a == 0 || root < 0) return INFINITY;
  root = sqrt(root);
  double near = (-b - root) / a, far = (-b + root) / a;
  return near > 1e-12 ? near : far > 1e-12 ? far : INFINITY;
}

/* The zone just ahead of the photon, and the distance to its boundary. */
static int zone_ahead(const Photon* photon, double* boundary) {
  const double step = 1e-9, *p = photon->position, *d = photon->direction;
  double x = p[0] + step * d[0], y = p[1] + step * d[1], z = p[2] + step * d[2];
  int ring = clamp((int)(sqrt(x * x + y * y) / radius * RINGS), RINGS - 1);
  int slice = clamp((int)(z / height * SLICES), SLICES - 1);
  double inner = ring ? distance_to_ring(photon, ring * radius / RINGS) : INFINITY;
  double outer = distance_to_ring(photon, (ring + 1) * radius / RINGS);
  double plane = ((d[2] > 0 ? slice + 1 : slice) * height / SLICES - p[2]) / d[2];
  if (d[2] == 0 || plane < 0) plane = d[2] == 0 ? INFINITY : 0;
  *boundary = fmin(fmin(inner, outer), plane) + step;
  return ring * SLICES + slice;
}

static int is_outside(const double* p) {
  return p[2] <= 0 || p[2] >= height || p[0] * p[0] + p[1] * p[1] >= radius * radius;
}

/* One straight piece of a path: to the boundary of the zone, or to a collision. Returns 0 when the photon has left. */
static int fly(Photon* photon, Tally* tally) {
  double boundary;
  int zone = zone_ahead(photon, &boundary);
  double scattering = 2.0 + 0.5 * (zone / SLICES), absorption = 0.1 + 0.2 * (zone % SLICES);
  double collision = -log(random_number()) / scattering, length = fmin(collision, boundary);
  double lost = photon->weight * (1 - exp(-absorption * length));
  photon->weight -= lost;
  tally->absorbed[zone] += lost;
  tally->flights++;
  for (int axis = 0; axis < 3; axis++) photon->position[axis] += length * photon->direction[axis];
  if (is_outside(photon->position)) {
    int bin = clamp((int)((photon->direction[2] + 1) / 2 * BINS), BINS - 1);
    tally->escaped[bin] += photon->weight;
    if (photon->direction[2] > 0) tally->escaped_up += photon->weight;
    return 0;
  }
  if (photon->weight < min_weight) {
    tally->absorbed[zone] += photon->weight;
    return 0;
  }
  if (collision < boundary) any_direction(photon->direction);
  return 1;
}

static void transport(long run, long photons, Tally* tally) {
  memset(tally, 0, sizeof *tally);
  random_state = 0x5eed000000000000u + (uint64_t)run * 0x100000001b3u;
  for (long i = 0; i < photons; i++) {
    double core = 0.25 * radius * sqrt(random_number()), angle = 2 * pi * random_number();
    Photon photon = {{core * cos(angle), core * sin(angle), height * (0.375 + 0.25 * random_number())}, {0}, 1.0};
    any_direction(photon.direction);
    tally->emitted += photon.weight;
    for (int flying = 1; flying;) {
      ENTER_FLIGHT();
      flying = fly(&photon, tally);
      LEAVE_FLIGHT();
    }
  }
}

static void send_tally(Tally* tally) {
  MPI_Send(&tally->flights, 1, MPI_LONG, 0, 0, MPI_COMM_WORLD);
  MPI_Send(tally->absorbed, ZONES, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD);
  MPI_Send(tally->escaped, BINS, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD);
  MPI_Send(&tally->emitted, 1, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD);
  MPI_Send(&tally->escaped_up, 1, MPI_DOUBLE, 0, 4, MPI_COMM_WORLD);
}

static void receive_tally(Tally* tally, int from) {
  MPI_Recv(&tally->flights, 1, MPI_LONG, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Recv(tally->absorbed, ZONES, MPI_DOUBLE, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Recv(tally->escaped, BINS, MPI_DOUBLE, from, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Recv(&tally->emitted, 1, MPI_DOUBLE, from, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Recv(&tally->escaped_up, 1, MPI_DOUBLE, from, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void add(Tally* all, const Tally* one) {
  for (int i = 0; i < ZONES; i++) all->absorbed[i] += one->absorbed[i];
  for (int i = 0; i < BINS; i++) all->escaped[i] += one->escaped[i];
  all->emitted += one->emitted;
  all->escaped_up += one->escaped_up;
  all->flights += one->flights;
}

static void work(const Options* options, int rank, int ranks, Tally* all) {
  Tally tally;
  for (long first = 0; first < options->runs; first += ranks) {
    if (first + rank < options->runs) {
      transport(first + rank, options->photons, &tally);
      if (rank == 0)
        add(all, &tally);
      else
        send_tally(&tally);
    }
    for (int from = 1; rank == 0 && from < ranks && first + from < options->runs; from++) {
      receive_tally(&tally, from);
      add(all, &tally);
    }
  }
}

static double processor_s(void) {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int measure(const Options* options, int rank, int ranks) {
  Tally all = {0};
  MPI_Barrier(MPI_COMM_WORLD);
  double wall_s = MPI_Wtime(), cpu_s = processor_s(), max_cpu_s;
  work(options, rank, ranks, &all);
  MPI_Barrier(MPI_COMM_WORLD);
  wall_s = MPI_Wtime() - wall_s;
  cpu_s = processor_s() - cpu_s;
  MPI_Reduce(&cpu_s, &max_cpu_s, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank != 0) return 0;

  double absorbed = 0, escaped = 0;
  for (int i = 0; i < ZONES; i++) absorbed += all.absorbed[i];
  for (int i = 0; i < BINS; i++) escaped += all.escaped[i];
  double drift = fabs((absorbed + escaped) / all.emitted - 1);
  printf(
      "photons: %ld runs of %ld photons on %d ranks\n"
      "transport  %.6f s, cpu %.6f s, %ld flights\n"
      "absorbed   %.9f, escaped %.9f (upward %.9f) of 1\n"
      "drift      %.3e\n",
      options->runs, options->photons, ranks, wall_s, max_cpu_s, all.flights, absorbed / all.emitted,
      escaped / all.emitted, all.escaped_up / all.emitted, drift);
  if (drift < 1e-9) return 0;
  fprintf(stderr, "photons: energy was lost\n");
  return 1;
}

static int parse(int argc, char** argv, Options* options) {
  for (int i = 1; i < argc; i += 2) {
    long* value = !strcmp(argv[i], "-r")   ? &options->runs
                  : !strcmp(argv[i], "-R") ? &options->runs_a_rank
                  : !strcmp(argv[i], "-p") ? &options->photons
                                           : NULL;
    if (!value || i + 1 == argc || (*value = atol(argv[i + 1])) < 1) return 0;
  }
  return 1;
}

int main(int argc, char** argv) {
  Options options = {64, 0, 10000};
  int rank, ranks, status = 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  DEFINE_FLIGHT();
  if (parse(argc, argv, &options)) {
    if (options.runs_a_rank) options.runs = options.runs_a_rank * ranks;
    status = measure(&options, rank, ranks);
  } else if (rank == 0) {
    fprintf(stderr, "usage: photons [-r RUNS] [-R RUNS_A_RANK] [-p PHOTONS]\n");
  }
  MPI_Finalize();
  return status;
}

/* diffusion: heat spreads through an insulated box, solved with hypre's StructSMG.
 *
 * The heat equation u_t = laplace(u) on the unit cube, insulated walls, in implicit Euler steps
 *     (1 + dt * A) u_new = u_old,      A: the 7-point finite-volume Laplacian,
 * each step one solve with StructSMG, hypre's semicoarsening multigrid with plane smoothing. In
 * 3-D it calls a 2-D solver for each plane and that one a 1-D solver for each line, so it sends a
 * great many tiny messages: a hard case for a tool that measures MPI. Counted on 2 ranks with a
 * processor each (Open MPI 4.1, hypre 2.26): 660,000 MPI calls a second and rank at the default
 * size, 2,500,000 with -n 12 12 12; nearly all are MPI_Waitall, MPI_Irecv and MPI_Isend. The total
 * heat is conserved, which the program checks.
 *
 * Method: S. Schaffer, "A semicoarsening multigrid method for elliptic partial differential
 * equations with highly discontinuous and anisotropic coefficients", SIAM J. Sci. Comput. 20(1),
 * 1998; P. N. Brown, R. D. Falgout, J. E. Jones, "Semicoarsening multigrid on distributed memory
 * machines", SIAM J. Sci. Comput. 21(5), 2000. The same solver as in the ASC benchmark SMG2000.
 *
 * usage: diffusion [-n NX NY NZ] [-P PX PY PZ] [-s SOLVES] [-t TOLERANCE]
 *   -n  cells of each rank                       (35 35 35)
 *   -P  grid of processes, PX*PY*PZ = ranks      (MPI_Dims_create)
 *   -s  time steps, one solve each               (4)
 *   -t  relative residual at which a solve ends  (1e-6)
 * Prints the times of the three phases that SMG2000 times (filling matrix and vectors, setting the solver up, solving),
 * the processor time of rank 0 in them, iterations, the final residual and the drift of the heat. Exit code 1 when a
 * solve does not converge or heat is lost, 2 on wrong usage.
 */
#include <HYPRE_struct_ls.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DIMENSIONS = 3, STENCIL = 4, MAX_ITERATIONS = 50 };

/* One time step in units of the square of the cell width: large, so that heat crosses many cells. */
static const double step_over_width2 = 100.0;

typedef struct {
  int cells[DIMENSIONS];     /* of each rank */
  int processes[DIMENSIONS]; /* 0: chosen by MPI_Dims_create */
  int solves;
  double tolerance;
} Options;

typedef struct {
  HYPRE_Int lower[DIMENSIONS], upper[DIMENSIONS]; /* this rank's cells, inclusive */
  HYPRE_Int last[DIMENSIONS];                     /* last cell of the whole box */
  size_t cells;
} Box;

typedef struct {
  double wall_s, cpu_s;
} Phase;

typedef struct {
  HYPRE_StructGrid grid;
  HYPRE_StructStencil stencil;
  HYPRE_StructMatrix matrix;
  HYPRE_StructVector old_heat, new_heat;
  HYPRE_StructSolver solver;
} System;

static int parse_three(char** arguments, int* values, int minimum) {
  for (int i = 0; i < DIMENSIONS; i++) {
    values[i] = arguments[i] ? atoi(arguments[i]) : 0;
    if (values[i] < minimum) return 0;
  }
  return 1;
}

static int parse(int argc, char** argv, Options* options) {
  int i = 1;
  while (i < argc) {
    if (!strcmp(argv[i], "-n") && i + DIMENSIONS < argc) {
      if (!parse_three(argv + i + 1, options->cells, 1)) return 0;
      i += 1 + DIMENSIONS;
    } else if (!strcmp(argv[i], "-P") && i + DIMENSIONS < argc) {
      if (!parse_three(argv + i + 1, options->processes, 1)) return 0;
      i += 1 + DIMENSIONS;
    } else if (!strcmp(argv[i], "-s") && i + 1 < argc) {
      options->solves = atoi(argv[i + 1]);
      i += 2;
    } else if (!strcmp(argv[i], "-t") && i + 1 < argc) {
      options->tolerance = atof(argv[i + 1]);
      i += 2;
    } else {
      return 0;
    }
  }
  return options->solves > 0 && options->tolerance > 0;
}

static void* allocate(size_t count) {
  void* memory = malloc(count * sizeof(double));
  if (!memory) {
    fprintf(stderr, "diffusion: out of memory; use fewer cells (-n)\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return memory;
}

static Box place(const Options* options, int rank) {
  Box box = {.cells = 1};
  for (int d = 0; d < DIMENSIONS; d++) {
    int coordinate = rank % options->processes[d];
    rank /= options->processes[d];
    box.lower[d] = coordinate * options->cells[d];
    box.upper[d] = box.lower[d] + options->cells[d] - 1;
    box.last[d] = options->processes[d] * options->cells[d] - 1;
    box.cells *= (size_t)options->cells[d];
  }
  return box;
}

/* Rows of the matrix: the diagonal and the three neighbours with the higher index; the other three
 * follow from symmetry. A face on a wall passes no heat and has no entry. */
static void fill_rows(const Box* box, double* values) {
  HYPRE_Int cell[DIMENSIONS];
  for (cell[2] = box->lower[2]; cell[2] <= box->upper[2]; cell[2]++)
    for (cell[1] = box->lower[1]; cell[1] <= box->upper[1]; cell[1]++)
      for (cell[0] = box->lower[0]; cell[0] <= box->upper[0]; cell[0]++) {
        int faces = 0;
        for (int d = 0; d < DIMENSIONS; d++) {
          values[1 + d] = cell[d] < box->last[d] ? -step_over_width2 : 0.0;
          faces += (cell[d] > 0) + (cell[d] < box->last[d]);
        }
        values[0] = 1.0 + faces * step_over_width2;
        values += STENCIL;
      }
}

static void create_matrix(System* system, Box* box) {
  HYPRE_Int offsets[STENCIL][DIMENSIONS] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  HYPRE_Int entries[STENCIL] = {0, 1, 2, 3};

  HYPRE_StructGridCreate(MPI_COMM_WORLD, DIMENSIONS, &system->grid);
  HYPRE_StructGridSetExtents(system->grid, box->lower, box->upper);
  HYPRE_StructGridAssemble(system->grid);

  HYPRE_StructStencilCreate(DIMENSIONS, STENCIL, &system->stencil);
  for (int entry = 0; entry < STENCIL; entry++) HYPRE_StructStencilSetElement(system->stencil, entry, offsets[entry]);

  HYPRE_StructMatrixCreate(MPI_COMM_WORLD, system->grid, system->stencil, &system->matrix);
  HYPRE_StructMatrixSetSymmetric(system->matrix, 1);
  HYPRE_StructMatrixInitialize(system->matrix);
  double* values = allocate(box->cells * STENCIL);
  fill_rows(box, values);
  HYPRE_StructMatrixSetBoxValues(system->matrix, box->lower, box->upper, STENCIL, entries, values);
  free(values);
  HYPRE_StructMatrixAssemble(system->matrix);
}

static void create_vector(System* system, HYPRE_StructVector* vector) {
  HYPRE_StructVectorCreate(MPI_COMM_WORLD, system->grid, vector);
  HYPRE_StructVectorInitialize(*vector);
}

static void create_solver(System* system, const Options* options) {
  HYPRE_StructSMGCreate(MPI_COMM_WORLD, &system->solver);
  HYPRE_StructSMGSetMaxIter(system->solver, MAX_ITERATIONS);
  HYPRE_StructSMGSetTol(system->solver, options->tolerance);
  HYPRE_StructSMGSetRelChange(system->solver, 0);
  HYPRE_StructSMGSetLogging(system->solver, 1); /* keeps the residual */
  HYPRE_StructSMGSetNumPreRelax(system->solver, 1);
  HYPRE_StructSMGSetNumPostRelax(system->solver, 1);
  HYPRE_StructSMGSetup(system->solver, system->matrix, system->old_heat, system->new_heat);
}

static void destroy(System* system) {
  HYPRE_StructSMGDestroy(system->solver);
  HYPRE_StructVectorDestroy(system->new_heat);
  HYPRE_StructVectorDestroy(system->old_heat);
  HYPRE_StructMatrixDestroy(system->matrix);
  HYPRE_StructStencilDestroy(system->stencil);
  HYPRE_StructGridDestroy(system->grid);
}

/* A hot spot in one corner of the box, one unit of heat in each of its cells. */
static void heat_a_corner(const Box* box, double* heat) {
  size_t i = 0;
  for (HYPRE_Int z = box->lower[2]; z <= box->upper[2]; z++)
    for (HYPRE_Int y = box->lower[1]; y <= box->upper[1]; y++)
      for (HYPRE_Int x = box->lower[0]; x <= box->upper[0]; x++)
        heat[i++] = 4 * x <= box->last[0] && 4 * y <= box->last[1] && 4 * z <= box->last[2];
}

static double total(const double* heat, size_t cells) {
  double mine = 0.0, all = 0.0;
  for (size_t i = 0; i < cells; i++) mine += heat[i];
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

/* One time step; `heat` holds the old values and gets the new ones. Returns the iterations. */
static int step(System* system, Box* box, double* heat, double* residual) {
  HYPRE_Int iterations = 0;
  HYPRE_StructVectorSetBoxValues(system->old_heat, box->lower, box->upper, heat);
  HYPRE_StructVectorSetBoxValues(system->new_heat, box->lower, box->upper, heat);
  HYPRE_StructVectorAssemble(system->old_heat);
  HYPRE_StructVectorAssemble(system->new_heat);
  HYPRE_StructSMGSolve(system->solver, system->matrix, system->old_heat, system->new_heat);
  HYPRE_StructSMGGetNumIterations(system->solver, &iterations);
  HYPRE_StructSMGGetFinalRelativeResidualNorm(system->solver, residual);
  HYPRE_StructVectorGetBoxValues(system->new_heat, box->lower, box->upper, heat);
  return (int)iterations;
}

static double processor_s(void) {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* A phase begins and ends on all ranks together. */
static void begin(Phase* phase) {
  MPI_Barrier(MPI_COMM_WORLD);
  phase->wall_s = MPI_Wtime();
  phase->cpu_s = processor_s();
}

static void end(Phase* phase) {
  phase->cpu_s = processor_s() - phase->cpu_s;
  MPI_Barrier(MPI_COMM_WORLD);
  phase->wall_s = MPI_Wtime() - phase->wall_s;
}

static int run(const Options* options, int rank) {
  Box box = place(options, rank);
  double* heat = allocate(box.cells);
  heat_a_corner(&box, heat);
  double heat_before = total(heat, box.cells);

  System system;
  Phase interface, setup, solve;
  begin(&interface);
  create_matrix(&system, &box);
  create_vector(&system, &system.old_heat);
  create_vector(&system, &system.new_heat);
  HYPRE_StructVectorSetBoxValues(system.old_heat, box.lower, box.upper, heat);
  HYPRE_StructVectorSetBoxValues(system.new_heat, box.lower, box.upper, heat);
  HYPRE_StructVectorAssemble(system.old_heat);
  HYPRE_StructVectorAssemble(system.new_heat);
  end(&interface);

  begin(&setup);
  create_solver(&system, options);
  end(&setup);

  begin(&solve);
  int iterations = 0, converged = 1;
  double residual = 0.0;
  for (int i = 0; i < options->solves; i++) {
    iterations += step(&system, &box, heat, &residual);
    converged = converged && residual <= options->tolerance;
  }
  end(&solve);
  double drift = fabs(total(heat, box.cells) / heat_before - 1.0);

  if (rank == 0)
    printf(
        "diffusion: %d x %d x %d cells on %d x %d x %d ranks\n"
        "interface  %.6f s, cpu %.6f s\n"
        "setup      %.6f s, cpu %.6f s\n"
        "solve      %.6f s, cpu %.6f s, %d solves, %d iterations\n"
        "residual   %.3e (relative, last solve)\n"
        "heat drift %.3e (relative)\n",
        (int)box.last[0] + 1, (int)box.last[1] + 1, (int)box.last[2] + 1, options->processes[0], options->processes[1],
        options->processes[2], interface.wall_s, interface.cpu_s, setup.wall_s, setup.cpu_s, solve.wall_s, solve.cpu_s,
        options->solves, iterations, residual, drift);
  destroy(&system);
  free(heat);
  if (!converged || !(drift < 100 * options->tolerance * options->solves)) {
    if (rank == 0) fprintf(stderr, "diffusion: did not converge; allow a larger residual (-t)\n");
    return 1;
  }
  return 0;
}

int main(int argc, char** argv) {
  Options options = {{35, 35, 35}, {0, 0, 0}, 4, 1e-6};
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);

  int status = 2;
  if (!parse(argc, argv, &options)) {
    if (rank == 0) fprintf(stderr, "usage: diffusion [-n NX NY NZ] [-P PX PY PZ] [-s SOLVES] [-t TOLERANCE]\n");
  } else {
    if (options.processes[0] == 0) MPI_Dims_create(size, DIMENSIONS, options.processes);
    if (options.processes[0] * options.processes[1] * options.processes[2] == size)
      status = run(&options, rank);
    else if (rank == 0)
      fprintf(stderr, "diffusion: -P gives %d processes, but there are %d; make them equal\n",
              options.processes[0] * options.processes[1] * options.processes[2], size);
  }
  MPI_Finalize();
  return status;
}

/* amg: hypre's BoomerAMG as the preconditioner of PCG, on a Laplacian of SIZE x SIZE points; ranks have stripes of it.
 * usage: amg [SIZE [SOLVES]] */
#include <HYPRE.h>
#include <HYPRE_IJ_mv.h>
#include <HYPRE_krylov.h>
#include <HYPRE_parcsr_ls.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int size = 200;

static HYPRE_IJMatrix laplacian(int first, int last) {
  HYPRE_IJMatrix matrix;
  HYPRE_IJMatrixCreate(MPI_COMM_WORLD, first, last, first, last, &matrix);
  HYPRE_IJMatrixSetObjectType(matrix, HYPRE_PARCSR);
  HYPRE_IJMatrixInitialize(matrix);
  for (int row = first; row <= last; ++row) {
    const int x = row % size, y = row / size;
    HYPRE_Int columns[5] = {row}, count = 1;
    double values[5] = {4, -1, -1, -1, -1};
    if (x > 0) columns[count++] = row - 1;
    if (x + 1 < size) columns[count++] = row + 1;
    if (y > 0) columns[count++] = row - size;
    if (y + 1 < size) columns[count++] = row + size;
    HYPRE_IJMatrixSetValues(matrix, 1, &count, &row, columns, values);
  }
  HYPRE_IJMatrixAssemble(matrix);
  return matrix;
}

static HYPRE_IJVector vector(int first, int last, double value) {
  HYPRE_IJVector made;
  HYPRE_IJVectorCreate(MPI_COMM_WORLD, first, last, &made);
  HYPRE_IJVectorSetObjectType(made, HYPRE_PARCSR);
  HYPRE_IJVectorInitialize(made);
  for (int row = first; row <= last; ++row) HYPRE_IJVectorSetValues(made, 1, &row, &value);
  HYPRE_IJVectorAssemble(made);
  return made;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc > 1) size = atoi(argv[1]);
  const int solves = argc > 2 ? atoi(argv[2]) : 5;
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  HYPRE_Init();
  const int first = rank * size / ranks * size, last = (rank + 1) * size / ranks * size - 1;
  HYPRE_IJMatrix matrix = laplacian(first, last);
  HYPRE_IJVector right = vector(first, last, 1), left = vector(first, last, 0);
  HYPRE_ParCSRMatrix a;
  HYPRE_ParVector b, x;
  HYPRE_IJMatrixGetObject(matrix, (void**)&a);
  HYPRE_IJVectorGetObject(right, (void**)&b);
  HYPRE_IJVectorGetObject(left, (void**)&x);
  HYPRE_Solver solver, amg;
  HYPRE_ParCSRPCGCreate(MPI_COMM_WORLD, &solver);
  HYPRE_PCGSetTol(solver, 1e-8);
  HYPRE_BoomerAMGCreate(&amg);
  HYPRE_BoomerAMGSetMaxIter(amg, 1);
  HYPRE_BoomerAMGSetTol(amg, 0);
  HYPRE_PCGSetPrecond(solver, (HYPRE_PtrToSolverFcn)HYPRE_BoomerAMGSolve,
                      (HYPRE_PtrToSolverFcn)HYPRE_BoomerAMGSetup, amg);
  HYPRE_ParCSRPCGSetup(solver, a, b, x);
  HYPRE_Int steps = 0;
  for (int solve = 0; solve < solves; ++solve) {
    HYPRE_ParVectorSetConstantValues(x, 0);
    HYPRE_ParCSRPCGSolve(solver, a, b, x);
    HYPRE_PCGGetNumIterations(solver, &steps);
  }
  if (rank == 0) printf("%d iterations\n", (int)steps);
  HYPRE_BoomerAMGDestroy(amg);
  HYPRE_ParCSRPCGDestroy(solver);
  HYPRE_IJMatrixDestroy(matrix);
  HYPRE_IJVectorDestroy(left);
  HYPRE_IJVectorDestroy(right);
  HYPRE_Finalize();
  MPI_Finalize();
  return 0;
}

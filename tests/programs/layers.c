/* Calls MPI by itself, through the layers of a library (solver.c), and from a function that the library calls back.
 * Lines are found by their comments. */
#include <mpi.h>
#include <stdlib.h>

#include "solver.h"

#define LAYER __attribute__((noinline, noclone)) static
#define NOT_LAST __asm__ volatile("")

LAYER void direct(void)
{
    MPI_Send(0, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD); /* direct */
    NOT_LAST;
}

LAYER void called_back(void *with)
{
    (void)with;
    MPI_Send(0, 0, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD); /* called back */
    NOT_LAST;
}

LAYER int compare(const void *a, const void *b)
{
    MPI_Probe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* compare */
    return *(const int *)a - *(const int *)b;
}

LAYER void twice(void)
{
    for (int i = 0; i < 5; i++)
        solver_solve(2); /* first solve */
    for (int i = 0; i < 7; i++)
        solver_solve(2); /* second solve */
}

int main(int argc, char **argv)
{
    int values[2] = {2, 1};
    MPI_Init(&argc, &argv);
    direct(); /* first direct */
    direct(); /* second direct */
    solver_setup(); /* setup */
    twice(); /* twice */
    solver_call_back(called_back, 0); /* call back */
    qsort(values, 2, sizeof values[0], compare); /* sort */
    MPI_Finalize();
    return 0;
}

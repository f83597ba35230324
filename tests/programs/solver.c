/* The solver of layers.c: a library that communicates below many layers of its own. */
#include <mpi.h>

#include "solver.h"

/* Kept as calls: a compiler would make one function of them, or jumps. */
#define LAYER __attribute__((noinline, noclone)) static
#define NOT_LAST __asm__ volatile("")

LAYER void solver_MPI_Send(int tag)
{
    MPI_Send(0, 0, MPI_INT, MPI_PROC_NULL, tag, MPI_COMM_WORLD);
    NOT_LAST;
}

LAYER void exchange(int tag)
{
    solver_MPI_Send(tag);
    NOT_LAST;
}

LAYER void relax(int level, int tag)
{
    if (level == 0)
        exchange(tag);
    else
        relax(level - 1, tag);
    NOT_LAST;
}

LAYER void cycle(int tag)
{
    relax(SOLVER_LEVELS, tag);
    NOT_LAST;
}

void solver_setup(void)
{
    exchange(1);
    NOT_LAST;
}

void solver_solve(int tag)
{
    cycle(tag);
    NOT_LAST;
}

void solver_call_back(void (*back)(void *), void *with)
{
    back(with);
    NOT_LAST;
}

#ifndef SOLVER_H
#define SOLVER_H

enum { SOLVER_LEVELS = 6 };

void solver_setup(void);
void solver_solve(int tag);
void solver_call_back(void (*back)(void *), void *with);

#endif

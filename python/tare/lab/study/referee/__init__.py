"""What tools cost a program, found within its runs by the referee (src/mpi/referee)."""

// All that such a program does itself.
#include <mpi.h>

double application(void);

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const double norm = application();
  MPI_Finalize();
  return norm == 0;
}

// A region in a library, which may be compiled for another runtime than the program.
#include <omp.h>
#include <unistd.h>

void library_region(void) {
  for (int i = 0; i < 3; ++i) {
#pragma omp parallel num_threads(2)  // LINE library
    usleep(omp_get_thread_num() == 0 ? 3000 : 9000);
  }
}

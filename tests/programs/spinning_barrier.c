// Thread 1 computes 100 ms, three times, and thread 0 waits for it in a barrier.
#include <omp.h>

#include "compute.h"

int main(void) {
#pragma omp parallel num_threads(2)
  for (int i = 0; i < 3; ++i) {
    if (omp_get_thread_num() == 1) compute(100);
#pragma omp barrier  // LINE spins
  }
  return 0;
}

// All kinds of constructs of OpenMP between two points of progress, as many in each iteration.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

void tare_progress(void) __attribute__((weak));  // of tare's library, if it measures

static volatile int sum;

static void spin(void) {
  struct timespec begin, now;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  do clock_gettime(CLOCK_MONOTONIC, &now);
  while ((now.tv_sec - begin.tv_sec) * 1000000000L + now.tv_nsec - begin.tv_nsec < 200000);
}

int main(int argc, char** argv) {
  const int iterations = argc > 1 ? atoi(argv[1]) : 1;
  omp_set_max_active_levels(2);
  for (int i = 0; i < iterations; ++i) {
    if (tare_progress) tare_progress();
#pragma omp parallel num_threads(2)
    {
#pragma omp critical
      ++sum;
#pragma omp barrier
#pragma omp for schedule(dynamic)
      for (int k = 0; k < 4; ++k) spin();
#pragma omp single
      {
        for (int k = 0; k < 3; ++k) {
#pragma omp task
          spin();
        }
#pragma omp taskwait
      }
    }
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(2)
    spin();
  }
  printf("%d\n", sum);
}

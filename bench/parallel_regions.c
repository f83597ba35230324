// What a parallel region of OpenMP with 2 threads takes: the fastest of many short loops of empty regions, and of
// regions with a barrier and a critical section.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static volatile int touched;

static double empty(long count) {
  const double begin = now_ns();
  for (long i = 0; i < count; ++i) {
#pragma omp parallel num_threads(2)
    touched = 1;
  }
  return (now_ns() - begin) / (double)count;
}

static double with_barrier(long count) {
  const double begin = now_ns();
  for (long i = 0; i < count; ++i) {
#pragma omp parallel num_threads(2)
    {
#pragma omp barrier
#pragma omp critical
      touched = 1;
    }
  }
  return (now_ns() - begin) / (double)count;
}

int main(int argc, char** argv) {
  const long count = argc > 1 ? atol(argv[1]) : 100, rounds = argc > 2 ? atol(argv[2]) : 100;
  double region = 1e30, busy_region = 1e30;
  const double begin = now_ns();
  for (long i = 0; i < rounds && now_ns() - begin < 2e9; ++i) {
    const double one = empty(count), other = with_barrier(count);
    if (one < region) region = one;
    if (other < busy_region) busy_region = other;
  }
  printf("{\"region_min_ns\": %.2f, \"barrier_region_min_ns\": %.2f}\n", region, busy_region);
  return 0;
}

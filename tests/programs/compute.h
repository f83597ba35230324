/* Uses a processor for known times. */
#include <time.h>

static volatile double sink;

static double processor_s(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static inline __attribute__((always_inline)) void compute(double ms) {
  const double end = processor_s() + ms / 1000;
  while (processor_s() < end)
    for (int i = 0; i < 20000; i++) sink += 1.0 / (1.0 + i);
}

/* deep_computing: work below so many frames, for samples of stacks. usage: deep_computing [FRAMES] [STEPS]
 *
 * FRAMES (20) calls below main, the innermost of which makes STEPS (2000000000) steps of a generator of numbers. Prints
 * the processor time as JSON: {"frames": 20, "processor_ns": 1234567.0}
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static volatile unsigned long result;

__attribute__((noinline, noclone)) static void work(int frames, long steps) {
  if (frames > 1) {
    work(frames - 1, steps);
    __asm__ volatile(""); /* no jump */
    return;
  }
  unsigned long value = result;
  for (long i = 0; i < steps; i++) value = value * 6364136223846793005UL + 1442695040888963407UL;
  result = value;
}

int main(int argc, char** argv) {
  const int frames = argc > 1 ? atoi(argv[1]) : 20;
  work(frames, argc > 2 ? atol(argv[2]) : 2000000000L);
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  printf("{\"frames\": %d, \"processor_ns\": %.1f}\n", frames, 1e9 * (double)time.tv_sec + (double)time.tv_nsec);
  return 0;
}

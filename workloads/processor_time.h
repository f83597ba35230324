/* Time that others take from the processor does not count: what these programs cost is known on a busy machine too. */
#include <time.h>

static long processor_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * 1000000000L + time.tv_nsec;
}

/* Uses up what is owed, once it is enough that reading the clock does not matter; keeps what is left. */
static void pay(long* owed_ns) {
  enum { WORTH_NS = 100000 };
  if (*owed_ns < WORTH_NS) return;
  long start_ns = processor_ns(), now_ns = start_ns;
  while (now_ns - start_ns < *owed_ns) now_ns = processor_ns();
  *owed_ns -= now_ns - start_ns;
}

/* A filter of the monitoring tree that takes as many milliseconds for each snapshot as its argument says, and counts
 * them. */
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include <tare/filter.h>

typedef struct {
  long milliseconds;
  uint32_t snapshots;
} Counting;

static void* begin(const char* arguments) {
  Counting* counting = calloc(1, sizeof *counting);
  if (counting) counting->milliseconds = atol(arguments);
  return counting;
}

static void add(void* reduction, const tare_snapshot* snapshot) {
  Counting* counting = reduction;
  const struct timespec time = {0, counting->milliseconds * 1000000};
  nanosleep(&time, NULL);
  counting->snapshots += snapshot != NULL;
}

static int merge(void* reduction, const void* bytes, size_t size) {
  if (size != sizeof(uint32_t)) return 1;
  ((Counting*)reduction)->snapshots += *(const uint32_t*)bytes;
  return 0;
}

static void write_result(const void* reduction, tare_filter_output* output, void* to) {
  output(to, &((const Counting*)reduction)->snapshots, sizeof(uint32_t));
}

static void clear(void* reduction) { ((Counting*)reduction)->snapshots = 0; }

const tare_filter* tare_filter_1(void) {
  static const tare_filter filter = {TARE_FILTER_VERSION, begin, add, merge, write_result, clear, free};
  return &filter;
}

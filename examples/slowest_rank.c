/* A filter for tare's monitoring tree: which rank has spent most time in its events, and how much.
 * An optional argument is the number of ranks to name (1). The result is pairs of double: time in ns, rank.
 *
 *     cc -shared -fPIC slowest_rank.c -o slowest_rank.so
 *     tare run --monitor=1s,filter=slowest_rank.so:3 -- mpiexec -n 4 ./app
 */
#include <stdlib.h>
#include <string.h>

#include "tare/filter.h"

struct entry {
  double time_ns;
  double rank;
};

struct slowest {
  size_t wanted;
  size_t count;
  struct entry entries[]; /* the slowest first */
};

static void insert(struct slowest* slowest, struct entry entry) {
  size_t at = slowest->count;
  while (at > 0 && slowest->entries[at - 1].time_ns < entry.time_ns) --at;
  if (at == slowest->wanted) return;
  if (slowest->count < slowest->wanted) ++slowest->count;
  memmove(&slowest->entries[at + 1], &slowest->entries[at], (slowest->count - at - 1) * sizeof entry);
  slowest->entries[at] = entry;
}

static void* begin(const char* arguments) {
  char* end = NULL;
  long wanted = *arguments == '\0' ? 1 : strtol(arguments, &end, 10);
  if (wanted < 1 || wanted > 1000 || (end != NULL && *end != '\0')) return NULL;
  struct slowest* slowest = malloc(sizeof *slowest + (size_t)wanted * sizeof(struct entry));
  if (slowest != NULL) *slowest = (struct slowest){.wanted = (size_t)wanted, .count = 0};
  return slowest;
}

static void add(void* reduction, const tare_snapshot* snapshot) {
  struct entry entry = {0, snapshot->rank};
  for (size_t i = 0; i < snapshot->events; ++i) entry.time_ns += snapshot->values[i].time_ns;
  insert(reduction, entry);
}

static int merge(void* reduction, const void* bytes, size_t size) {
  const struct entry* entries = bytes;
  struct slowest* slowest = reduction;
  if (size % sizeof *entries != 0 || size / sizeof *entries > slowest->wanted) return 1;
  for (size_t i = 0; i < size / sizeof *entries; ++i) {
    struct entry entry;
    memcpy(&entry, &entries[i], sizeof entry); /* bytes are not aligned */
    insert(slowest, entry);
  }
  return 0;
}

static void write(const void* reduction, tare_filter_output* output, void* to) {
  const struct slowest* slowest = reduction;
  output(to, slowest->entries, slowest->count * sizeof(struct entry));
}

static void clear(void* reduction) { ((struct slowest*)reduction)->count = 0; }

const tare_filter* tare_filter_1(void) {
  static const tare_filter filter = {TARE_FILTER_VERSION, begin, add, merge, write, clear, free, NULL};
  return &filter;
}

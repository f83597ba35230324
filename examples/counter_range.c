/* A filter for tare's monitoring tree: the least and the greatest value of each counter, with its name and unit.
 * The result is entries as below.
 *
 *     cc -shared -fPIC counter_range.c -o counter_range.so
 *     tare run --monitor=1s,filter=statistics+counter_range.so -- mpiexec -n 4 ./app
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tare/filter.h"

enum { MAX_COUNTERS = 64 };

struct entry {
  uint64_t key;
  double least;
  double most;
  char name[96];
  char unit[24];
};

struct range {
  const tare_events* events;
  size_t count;
  struct entry entries[MAX_COUNTERS];
};

static void widen(struct range* range, const struct entry* with) {
  size_t at = 0;
  while (at < range->count && range->entries[at].key != with->key) ++at;
  if (at == MAX_COUNTERS) return;
  struct entry* entry = &range->entries[at];
  if (at == range->count) {
    *entry = *with;
    ++range->count;
  }
  if (with->least < entry->least) entry->least = with->least;
  if (with->most > entry->most) entry->most = with->most;
}

static void* begin(const char* arguments) { return *arguments == '\0' ? calloc(1, sizeof(struct range)) : NULL; }

static void know(void* reduction, const tare_events* events) { ((struct range*)reduction)->events = events; }

static void add(void* reduction, const tare_snapshot* snapshot) {
  struct range* range = reduction;
  for (size_t i = 0; i < snapshot->events; ++i) {
    const tare_event* event = range->events->find(range->events, snapshot->keys[i]);
    if (event == NULL || event->kind != TARE_EVENT_COUNTER || snapshot->values[i].calls == 0) continue;
    struct entry entry = {event->key, snapshot->values[i].bytes, snapshot->values[i].bytes, "", ""};
    snprintf(entry.name, sizeof entry.name, "%s", event->name);
    snprintf(entry.unit, sizeof entry.unit, "%s", event->unit);
    widen(range, &entry);
  }
}

static int merge(void* reduction, const void* bytes, size_t size) {
  if (size % sizeof(struct entry) != 0 || size / sizeof(struct entry) > MAX_COUNTERS) return 1;
  for (size_t i = 0; i < size / sizeof(struct entry); ++i) {
    struct entry entry;
    memcpy(&entry, (const char*)bytes + i * sizeof entry, sizeof entry); /* bytes are not aligned */
    widen(reduction, &entry);
  }
  return 0;
}

static void write(const void* reduction, tare_filter_output* output, void* to) {
  const struct range* range = reduction;
  output(to, range->entries, range->count * sizeof(struct entry));
}

static void clear(void* reduction) { ((struct range*)reduction)->count = 0; }

const tare_filter* tare_filter_1(void) {
  static const tare_filter filter = {TARE_FILTER_VERSION, begin, add, merge, write, clear, free, know};
  return &filter;
}

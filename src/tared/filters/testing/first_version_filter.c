/* A filter as it was compiled when tare/filter.h had version 1: its struct ends before `know`. It counts ranks. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct snapshot {
  uint64_t round;
  uint32_t rank;
};

typedef void output_function(void* to, const void* bytes, size_t size);

struct filter {
  uint32_t version;
  void* (*begin)(const char* arguments);
  void (*add)(void* reduction, const struct snapshot* snapshot);
  int (*merge)(void* reduction, const void* bytes, size_t size);
  void (*write)(const void* reduction, output_function* output, void* to);
  void (*clear)(void* reduction);
  void (*end)(void* reduction);
  int what_follows_it; /* is no pointer, and not to be called */
};

static void* begin(const char* arguments) { return *arguments == '\0' ? calloc(1, sizeof(uint64_t)) : NULL; }
static void add(void* reduction, const struct snapshot* snapshot) {
  (void)snapshot;
  ++*(uint64_t*)reduction;
}
static int merge(void* reduction, const void* bytes, size_t size) {
  uint64_t count;
  if (size != sizeof count) return 1;
  memcpy(&count, bytes, size);
  *(uint64_t*)reduction += count;
  return 0;
}
static void write(const void* reduction, output_function* output, void* to) { output(to, reduction, sizeof(uint64_t)); }
static void clear(void* reduction) { *(uint64_t*)reduction = 0; }

const struct filter* tare_filter_1(void);
const struct filter* tare_filter_1(void) {
  static const struct filter filter = {1, begin, add, merge, write, clear, free, 7};
  return &filter;
}

/* An analysis of sampled messages for tare: a histogram of their latencies for each power of two of their lengths. The
 * argument is the width of a bin in microseconds (10). A line of the result is a length, up to which messages count in
 * it, and the number of messages in each bin; the last bin also has those that took longer.
 *
 *     cc -shared -fPIC latency_by_size.c -o latency_by_size.so
 *     tare run --sample random:0.1,analysis=./latency_by_size.so:5 -- mpiexec -n 4 ./app
 *     tare samples RUN
 */
#include <stdio.h>
#include <stdlib.h>

#include "tare/sampling.h"

enum { SIZES = 65, BINS = 8 };

struct histograms {
  double width_ns;
  unsigned long counts[SIZES][BINS];
};

static void* begin(const char* arguments) {
  char* rest = NULL;
  struct histograms* histograms = calloc(1, sizeof *histograms);
  if (histograms == NULL) return NULL;
  histograms->width_ns = 1000 * (*arguments == '\0' ? 10 : strtod(arguments, &rest));
  if (histograms->width_ns > 0 && (rest == NULL || *rest == '\0')) return histograms;
  free(histograms);
  return NULL;
}

static void add(void* analysis, const tare_sampled_message* message) {
  struct histograms* histograms = analysis;
  int size = 0;
  while (size < SIZES - 1 && message->bytes > (1ULL << size)) ++size;
  const double bin = (double)message->latency_ns / histograms->width_ns;
  ++histograms->counts[size][bin < BINS ? (int)bin : BINS - 1];
}

static void write(void* analysis, tare_analysis_output* output, void* to) {
  const struct histograms* histograms = analysis;
  for (int size = 0; size < SIZES; ++size) {
    unsigned long messages = 0;
    for (int bin = 0; bin < BINS; ++bin) messages += histograms->counts[size][bin];
    if (messages == 0) continue;
    char text[64];
    output(to, text, (size_t)snprintf(text, sizeof text, "%.0f:", size < 64 ? (double)(1ULL << size) : 0x1p64));
    for (int bin = 0; bin < BINS; ++bin)
      output(to, text, (size_t)snprintf(text, sizeof text, " %lu", histograms->counts[size][bin]));
    output(to, "\n", 1);
  }
}

const tare_message_analysis* tare_message_analysis_1(void) {
  static const tare_message_analysis analysis = {TARE_SAMPLING_VERSION, begin, add, write, free};
  return &analysis;
}

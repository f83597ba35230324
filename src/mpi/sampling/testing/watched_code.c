/* A chooser and an analysis for tests. The arguments are the address of a struct watched (watched_code.h). */
#include "mpi/sampling/testing/watched_code.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

static void* begin(const char* arguments) {
  void* watched = NULL;
  return sscanf(arguments, "%p", &watched) == 1 ? watched : NULL;
}

static void busy(uint64_t ns) {
  struct timespec start, now;
  clock_gettime(CLOCK_MONOTONIC, &start);
  do clock_gettime(CLOCK_MONOTONIC, &now);
  while ((uint64_t)(now.tv_sec - start.tv_sec) * 1000000000U + (uint64_t)(now.tv_nsec - start.tv_nsec) < ns);
}

static int choose(void* chooser, const tare_message* message, double* probability) {
  struct watched* watched = chooser;
  busy(watched->busy_ns);
  errno = 77;
  if (watched->asked < WATCHED) watched->messages[watched->asked] = *message;
  ++watched->asked;
  if (watched->leave != NULL) watched->leave();
  *probability = watched->probability;
  return watched->chooses;
}

static void add(void* analysis, const tare_sampled_message* message) {
  struct watched* watched = analysis;
  busy(watched->busy_ns);
  if (watched->added < WATCHED) watched->sampled[watched->added] = *message;
  ++watched->added;
  if (watched->during_add != NULL) watched->during_add();
}

static void write(void* analysis, tare_analysis_output* output, void* to) {
  struct watched* watched = analysis;
  for (unsigned i = 0; i < watched->writes; ++i) output(to, "0123456789", 10);
}

static void end(void* state) { ++((struct watched*)state)->ended; }

const tare_message_chooser* tare_message_chooser_1(void) {
  static const tare_message_chooser chooser = {TARE_SAMPLING_VERSION, begin, choose, end};
  return &chooser;
}

const tare_message_analysis* tare_message_analysis_1(void) {
  static const tare_message_analysis analysis = {TARE_SAMPLING_VERSION, begin, add, write, end};
  return &analysis;
}

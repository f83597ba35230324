/* A chooser of a version that is to come, and an analysis without a function. */
#include "tare/sampling.h"

static void* begin(const char* arguments) {
  (void)arguments;
  return &begin;
}

const tare_message_chooser* tare_message_chooser_1(void) {
  static const tare_message_chooser chooser = {TARE_SAMPLING_VERSION + 1, begin, NULL, NULL};
  return &chooser;
}

const tare_message_analysis* tare_message_analysis_1(void) {
  static const tare_message_analysis analysis = {TARE_SAMPLING_VERSION, begin, NULL, NULL, NULL};
  return &analysis;
}

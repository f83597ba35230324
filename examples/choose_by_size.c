/* A chooser of messages for tare: all messages of at least BYTES bytes (65536), and shorter ones with a probability in
 * proportion to their length: one in BYTES of those of 1 byte. So it mostly looks at what takes time, and tare can
 * still estimate how many messages there were of each length.
 *
 *     cc -shared -fPIC choose_by_size.c -o choose_by_size.so
 *     tare run --sample ./choose_by_size.so:4096 -- mpiexec -n 4 ./app
 */
#include <stdlib.h>

#include "tare/sampling.h"

static void* begin(const char* arguments) {
  char* rest = NULL;
  double* all_from = malloc(sizeof *all_from);
  if (all_from == NULL) return NULL;
  *all_from = *arguments == '\0' ? 65536 : strtod(arguments, &rest);
  if (*all_from >= 1 && (rest == NULL || *rest == '\0')) return all_from;
  free(all_from);
  return NULL;
}

static int choose(void* chooser, const tare_message* message, double* probability) {
  const double* all_from = chooser;
  const double bytes = message->bytes == 0 ? 1 : (double)message->bytes;
  *probability = bytes < *all_from ? bytes / *all_from : 1;
  return message->random < *probability;
}

const tare_message_chooser* tare_message_chooser_1(void) {
  static const tare_message_chooser chooser = {TARE_SAMPLING_VERSION, begin, choose, free};
  return &chooser;
}

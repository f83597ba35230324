// The events with LTTng-UST, as a tracepoint of four ints. The session that takes them is bench's; BUFFER and PATH
// are its matter.
#include "events.h"

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "lttng_provider.h"

int main(int argc, char** argv) {
  const Arguments arguments(argc, argv);
  if (arguments.table) return 2;
  print_cost(arguments, [](int i) { lttng_ust_tracepoint(tare_bench, event, i, i + 1, i + 2, i + 3); });
}

/* known_cost: a tool whose cost is known: CALL_NS a call of MPI_Send, FLUSH_NS every KNOWN_COST_EVENTS calls.
 *
 * Without KNOWN_COST_WRITE there are no flushes: a tool that records, but does not write.
 */
#include <mpi.h>
#include <stdlib.h>

#include "processor_time.h"

enum { CALL_NS = 1000, FLUSH_NS = 5000000 };

static long buffer_events, events, owed_ns;

__attribute__((constructor)) static void start(void) {
  const char* text = getenv("KNOWN_COST_EVENTS");
  buffer_events = text && getenv("KNOWN_COST_WRITE") ? atol(text) : 0;
}

int MPI_Send(const void* data, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
  owed_ns += CALL_NS;
  if (buffer_events && ++events % buffer_events == 0) owed_ns += FLUSH_NS;
  pay(&owed_ns);
  return PMPI_Send(data, count, type, dest, tag, comm);
}

// Communicators, peers, phases, totals and clock violations as tables.
#pragma once

#include "reader/events/table_stream.h"
#include "reader/run/run.h"

namespace tare::reader {

Result<TableStream> communicator_table(Run& run);
// These read the profiles of all processes.
Result<TableStream> peer_table(Run& run);
Result<TableStream> phase_table(Run& run);
Result<TableStream> total_table(Run& run);
// As recorded, whatever the times of the run have been moved to. Reads the trace.
Result<TableStream> clock_violation_table(Run& run);

}  // namespace tare::reader

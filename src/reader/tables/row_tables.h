// Communicators, peers, phases, totals and clock violations as tables.
#pragma once

#include "reader/events/table_stream.h"
#include "reader/run/run.h"

namespace tare::reader {

Result<TableStream> communicator_table(Run& run);
// These functions read the profiles of all processes.
Result<TableStream> peer_table(Run& run, const TablesQuery& query);
Result<TableStream> phase_table(Run& run, const TablesQuery& query);
Result<TableStream> peer_table(Run& run);  // by rank, as the next
Result<TableStream> phase_table(Run& run);
Result<TableStream> total_table(Run& run);
// Shows times as recorded, also if the times of the run were moved. Reads the trace.
Result<TableStream> clock_violation_table(Run& run);

}  // namespace tare::reader

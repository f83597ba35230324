// The tables of peers and phases, by other keys than their ranks.
#pragma once

#include "reader/events/table_stream.h"
#include "reader/run/run.h"

namespace tare::reader {

// These functions read the profiles of all processes.
Result<TableStream> peer_table(Run& run, const TablesQuery& query);
Result<TableStream> phase_table(Run& run, const TablesQuery& query);

}  // namespace tare::reader

// The rounds of a monitored run as tables: up to the moment when the run was opened.
#pragma once

#include "reader/events/table_stream.h"
#include "reader/run/run.h"

namespace tare::reader {

// A row for each metric of each event, of the filter `statistics`.
Result<TableStream> round_table(Run& run);
// What other filters have made of the rounds.
Result<TableStream> reduction_table(Run& run);

}  // namespace tare::reader

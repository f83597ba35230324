// The rounds of a monitored run as tables: those that had been written when the run was opened.
#pragma once

#include "reader/events/table_stream.h"
#include "reader/run/run.h"

namespace tare::reader {

// The results of the filter `statistics`: one row for each round, event and metric.
Result<TableStream> round_table(Run& run);
// The results of other filters.
Result<TableStream> reduction_table(Run& run);

}  // namespace tare::reader

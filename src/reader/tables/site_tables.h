// Call sites, totals by call site and message samples, as tables.
#pragma once

#include "reader/events/table_stream.h"
#include "reader/run/run.h"

namespace tare::reader {

Result<TableStream> callsite_table(Run& run);
// Reads the profiles of all processes.
Result<TableStream> site_total_table(Run& run);
Result<TableStream> sample_table(Run& run);
Result<TableStream> sample_histogram_table(Run& run);

}  // namespace tare::reader

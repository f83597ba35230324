// Processes and their locations as tables. Both functions read the profiles of all processes.
#pragma once

#include "reader/events/table_stream.h"
#include "reader/run/run.h"

namespace tare::reader {

Result<TableStream> rank_table(Run& run);
Result<TableStream> location_table(Run& run);

}  // namespace tare::reader

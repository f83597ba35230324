// The table of events, and those that are parts of it.
#pragma once

#include "reader/events/table_stream.h"
#include "reader/run/run.h"

namespace tare::reader {

Result<TableStream> event_table(Run& run);
// Calls alone, and the columns that calls have.
Result<TableStream> call_table(Run& run);
// When event buffers were written, and records that were lost.
Result<TableStream> flush_table(Run& run);

}  // namespace tare::reader

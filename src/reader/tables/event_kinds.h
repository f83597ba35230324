// The table of events, and the tables with a part of its rows. docs/tables.md has the columns of all tables.
#pragma once

#include "reader/events/table_stream.h"
#include "reader/run/run.h"

namespace tare::reader {

Result<TableStream> event_table(Run& run);
// Only calls, and only the columns that calls have.
Result<TableStream> call_table(Run& run);
// Times at which event buffers were written, and gaps in which records were lost.
Result<TableStream> flush_table(Run& run);

}  // namespace tare::reader

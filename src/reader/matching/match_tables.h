// Messages and collective operations as Arrow tables. docs/tables.md describes their columns.
#pragma once

#include "reader/events/table_stream.h"
#include "reader/run/run.h"

namespace tare::reader {

// One row for each message, matched or not. Also looks up the lines of call sites.
Result<TableStream> message_table(Run& run);
// One row for each rank that took part in each collective operation.
Result<TableStream> collective_table(Run& run);

}  // namespace tare::reader

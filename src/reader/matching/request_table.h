// Requests of a trace, each with the call that started it and the call that completed it; docs/tables.md has the
// columns.
#pragma once

#include "reader/matching/match_tables.h"

namespace tare::reader {

// One row for each request, in the order in which they were completed; at the end those that were not. Holds those
// under way, at most 32,768 of a process: beyond that they are handed over as not completed.
Result<TableStream> request_table(Run& run);

}  // namespace tare::reader

// Requests of a trace, each with the call that started it and the call that completed it; docs/tables.md has the
// columns.
#pragma once

#include "reader/matching/match_tables.h"

namespace tare::reader {

// One row for each request, in the order of completion; incomplete ones come at the end. Holds at most 32,768 requests
// under way for each process; further ones count as not completed.
Result<TableStream> request_table(Run& run);

}  // namespace tare::reader

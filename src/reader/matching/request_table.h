// Requests of a trace, each with the call that started it and the call that completed it. docs/tables.md describes the
// columns.
#pragma once

#include "reader/matching/match_tables.h"

namespace tare::reader {

// One row for each request, in the order of completion; incomplete ones come at the end. If a process has more than
// 32,768 incomplete requests, those are taken for never completed.
Result<TableStream> request_table(Run& run);

}  // namespace tare::reader

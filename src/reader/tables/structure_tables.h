// Detected phases and iterations as tables. Each reads the trace twice.
#pragma once

#include "reader/events/table_stream.h"
#include "reader/run/run.h"

namespace tare::reader {

Result<TableStream> detected_phase_table(Run& run);
Result<TableStream> iteration_table(Run& run);

}  // namespace tare::reader

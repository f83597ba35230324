// A trace in the format of Pajé (https://paje.sourceforge.net/download/publication/lang-paje.pdf), which ViTE, PajeNG
// and StarVZ read.
#pragma once

#include <string>

#include "exporters/export_options.h"
#include "exporters/timeline.h"
#include "reader/result.h"
#include "reader/run/run.h"

namespace tare::exporters {

// Writes the file completely or not at all. Containers for processes and threads; states for calls, regions, phases and
// what tare did; variables for counters; events for markers and other events; links for messages. Times are seconds
// since the start of the run, and never go back.
reader::Result<TimelineSummary> write_paje(reader::Run& run, const std::string& path, ExportOptions options);

}  // namespace tare::exporters

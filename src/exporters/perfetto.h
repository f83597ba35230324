// A trace for Perfetto (https://perfetto.dev): a protobuf of TracePackets, which its UI and its trace processor read.
#pragma once

#include <string>

#include "exporters/export_options.h"
#include "exporters/timeline.h"
#include "reader/result.h"
#include "reader/run/run.h"

namespace tare::exporters {

// Writes the file completely or not at all. A track for each process, and in it one for each thread and each counter;
// slices for calls, regions, phases and what tare did; instants for markers and other events; flows for messages.
reader::Result<TimelineSummary> write_perfetto(reader::Run& run, const std::string& path, ExportOptions options);

}  // namespace tare::exporters

// A trace as OTF2 (https://www.vi-hps.org/projects/score-p), which Vampir, Scalasca, Pipit and others read.
//
// This folder needs libotf2, so it is a library of its own. All other exports do without libotf2.
#pragma once

#include <string>

#include "exporters/formats.h"
#include "exporters/timeline.h"
#include "reader/result.h"
#include "reader/run/run.h"

namespace tare::exporters::otf2 {

// Writes the archive PATH/traces.otf2 completely or not at all. Times are Unix nanoseconds. Holds a buffer and an open
// file for each thread. Not thread-safe, because libotf2 has one error handler.
reader::Result<TimelineSummary> write_otf2(reader::Run& run, const std::string& path, ExportOptions options);

}  // namespace tare::exporters::otf2

// The formats of traces.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "exporters/timeline.h"
#include "reader/events/event_filter.h"
#include "reader/result.h"
#include "reader/run/run.h"

namespace tare::exporters {

// What to export of a run.
struct ExportOptions {
  reader::EventFilter filter;
  std::int64_t start_ns = 0;                             // when the run began, Unix time; the zero of exported times
  std::function<bool(std::uint64_t)> goes_on = nullptr;  // see TimelineOptions
};

// A trace in the format of Pajé (https://paje.sourceforge.net/download/publication/lang-paje.pdf), which ViTE, PajeNG
// and StarVZ read.
// Writes the file completely or not at all. Containers for processes and threads; states for calls, regions, phases and
// what tare did; variables for counters; events for markers and other events; links for messages. Times are seconds
// since the start of the run, and never go back.
reader::Result<TimelineSummary> write_paje(reader::Run& run, const std::string& path, ExportOptions options);

// A trace for Perfetto (https://perfetto.dev): a protobuf of TracePackets, which its UI and its trace processor read.
// Writes the file completely or not at all. A track for each process, and in it one for each thread and each counter;
// slices for calls, regions, phases and what tare did; instants for markers and other events; flows for messages;
// samples of stacks.
reader::Result<TimelineSummary> write_perfetto(reader::Run& run, const std::string& path, ExportOptions options);

// A trace as OTF2 (https://www.vi-hps.org/projects/score-p), which Vampir, Scalasca, Pipit and others read. It needs
// libotf2, so it is a library of its own.
// Writes the archive PATH/traces.otf2 completely or not at all. Times are Unix nanoseconds. Holds a buffer and an open
// file for each thread. Not thread-safe, because libotf2 has one error handler.
namespace otf2 {
reader::Result<TimelineSummary> write_otf2(reader::Run& run, const std::string& path, ExportOptions options);
}

}  // namespace tare::exporters

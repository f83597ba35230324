// Exports of traces: what the bindings of all formats have in common.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bindings/run.h"
#include "exporters/export_options.h"
#include "exporters/timeline.h"
#include "reader/result.h"

namespace tare::bindings {

// What Python asks for.
struct ExportRequest {
  std::string path;
  std::int64_t start_ns = 0;
  std::optional<std::vector<int>> ranks{};
  std::optional<std::int64_t> from_ns{}, to_ns{};
};

using Exporter = std::function<reader::Result<exporters::TimelineSummary>(reader::Run&, const std::string&,
                                                                          exporters::ExportOptions)>;

// Exports without the interpreter lock, and looks for signals meanwhile: Ctrl-C ends it, and leaves no file. Warnings
// go to the run.
nanobind::dict export_with(const Exporter& exporter, PyRun& run, ExportRequest request);

void define_exports(nanobind::class_<PyRun>& run);

}  // namespace tare::bindings

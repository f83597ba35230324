// What the bindings of all export formats have in common.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bindings/py_run.h"
#include "exporters/formats.h"
#include "exporters/timeline.h"
#include "reader/result.h"

namespace tare::bindings {

// A request from Python.
struct ExportRequest {
  std::string path;
  std::int64_t start_ns = 0;
  std::optional<std::vector<int>> ranks{};
  std::optional<std::int64_t> from_ns{}, to_ns{};
};

using Exporter = std::function<reader::Result<exporters::TimelineSummary>(reader::Run&, const std::string&,
                                                                          exporters::ExportOptions)>;

// Exports without the interpreter lock, and checks for signals meanwhile: Ctrl-C ends the export, and no file is left.
// Warnings are added to the run.
exporters::TimelineSummary export_with(const Exporter& exporter, PyRun& run, ExportRequest request);

}  // namespace tare::bindings

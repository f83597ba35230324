// Processes of a run and their locations as rows for Python (Process and Location in _native.pyi).
#pragma once

#include <nanobind/nanobind.h>

#include <optional>

#include "reader/run/run.h"

namespace tare::bindings {

// All except spell_rows() read the profiles of all processes.
nanobind::list process_rows(reader::Run& run);
// For all processes, or for the ranks of a world (TotalCost and Trace in _native.pyi).
nanobind::dict total_cost(reader::Run& run, std::optional<int> world);
nanobind::dict total_trace(reader::Run& run, std::optional<int> world);
// The spells of a trial or a budget, by world, rank and number.
nanobind::list spell_rows(reader::Run& run);

}  // namespace tare::bindings

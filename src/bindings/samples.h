// Classes of sampled messages of a run, and counters, as rows for Python (SampleRow, SampleSummary in _native.pyi).
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "reader/run/run.h"

namespace tare::bindings {

// A row for each class of messages of each process that received.
nanobind::list sample_rows(reader::Run& run);
// One for each process that sampled.
nanobind::list sample_summaries(reader::Run& run);
// The method of a spec (format/sample_spec.h). Throws nanobind::value_error if the spec is wrong.
const char* sample_method(const std::string& spec);

}  // namespace tare::bindings

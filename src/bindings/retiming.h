// Clocks corrected and the cost of measuring taken out, for Python.
#pragma once

#include <nanobind/nanobind.h>

#include "reader/run/run.h"

namespace tare::bindings {

nanobind::list clock_violations(reader::Run& run);
// Both move the times of the run, and say by what.
nanobind::dict correct_clocks(reader::Run& run);
nanobind::dict compensate(reader::Run& run);

}  // namespace tare::bindings

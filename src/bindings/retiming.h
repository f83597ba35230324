// For Python: corrected clocks, and times without the cost of measuring.
#pragma once

#include <nanobind/nanobind.h>

#include "reader/run/run.h"

namespace tare::bindings {

nanobind::list clock_violations(reader::Run& run);
// Both move the times of the run, and return how.
nanobind::dict correct_clocks(reader::Run& run);
nanobind::dict compensate(reader::Run& run);

}  // namespace tare::bindings

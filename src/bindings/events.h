// Events of a run as batches of rows for Python (EventRow in _native.pyi).
#pragma once

#include <nanobind/nanobind.h>

#include "bindings/run.h"

namespace tare::bindings {

// Adds the method `events` to Run, and what it returns to the module.
void define_events(nanobind::module_& module, nanobind::class_<PyRun>& run);

}  // namespace tare::bindings

// Events of a run as a table of Arrow (EventTable in _native.pyi).
#pragma once

#include <nanobind/nanobind.h>

#include "bindings/run.h"

namespace tare::bindings {

// Adds the method `event_table` to Run, and what it returns to the module.
void define_event_table(nanobind::module_& module, nanobind::class_<PyRun>& run);

}  // namespace tare::bindings

// Rounds of a monitored run, for Python (python/tare/runs/rounds.py).
#pragma once

#include <nanobind/nanobind.h>

namespace tare::bindings {

void define_rounds(nanobind::module_& module);

}  // namespace tare::bindings

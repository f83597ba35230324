// What the threads of a run are doing, as rows for Python (CurrentCall in _native.pyi).
#pragma once

#include <nanobind/nanobind.h>

#include "reader/run/run.h"

namespace tare::bindings {

nanobind::list current_call_rows(const reader::Run& run);

}  // namespace tare::bindings

// What a run waited for, for Python.
#pragma once

#include <nanobind/nanobind.h>

#include "reader/run/run.h"

namespace tare::bindings {

nanobind::dict wait_report(reader::Run& run);

}  // namespace tare::bindings

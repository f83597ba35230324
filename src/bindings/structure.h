// The phases and iterations of a run, for Python.
#pragma once

#include <nanobind/nanobind.h>

#include "reader/run/run.h"

namespace tare::bindings {

nanobind::dict structure(reader::Run& run);

}  // namespace tare::bindings

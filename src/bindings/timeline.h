// tare._native.Timeline.
#pragma once

#include <nanobind/nanobind.h>

#include "bindings/run.h"

namespace tare::bindings {

void define_timeline(nanobind::module_& module, nanobind::class_<PyRun>& run);

}  // namespace tare::bindings

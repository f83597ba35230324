// Tables of a run, except for that of events: methods of tare._native.Run; and tables of rows that Python has made.
#pragma once

#include <nanobind/nanobind.h>

#include "bindings/run.h"

namespace tare::bindings {

void define_tables(nanobind::module_& module, nanobind::class_<PyRun>& run);

}  // namespace tare::bindings

// Tables of rows that Python has made.
#pragma once

#include <nanobind/nanobind.h>

namespace tare::bindings {

void define_row_table(nanobind::module_& module);

}  // namespace tare::bindings

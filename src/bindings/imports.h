// Imports of formats that need no library.
#pragma once

#include <nanobind/nanobind.h>

namespace tare::bindings {

void define_imports(nanobind::module_& module);

}  // namespace tare::bindings

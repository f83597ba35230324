// The parts of tare._native: each adds its classes to the module, and methods to Run. Its file has its name.
#pragma once

#include <nanobind/nanobind.h>

#include "bindings/py_run.h"

namespace tare::bindings {

void define_archives(nanobind::module_& module);
void define_current_calls(nanobind::module_& module, nanobind::class_<PyRun>& run);
void define_definitions(nanobind::module_& module, nanobind::class_<PyRun>& run);
void define_events(nanobind::module_& module, nanobind::class_<PyRun>& run);
void define_exports(nanobind::module_& module, nanobind::class_<PyRun>& run);
void define_imports(nanobind::module_& module);
void define_processes(nanobind::module_& module, nanobind::class_<PyRun>& run);
void define_retiming(nanobind::module_& module, nanobind::class_<PyRun>& run);
void define_rounds(nanobind::module_& module);
nanobind::class_<PyRun> define_run(nanobind::module_& module);
void define_samples(nanobind::module_& module, nanobind::class_<PyRun>& run);
void define_source_line(nanobind::module_& module);
void define_structure(nanobind::module_& module, nanobind::class_<PyRun>& run);
void define_tables(nanobind::module_& module, nanobind::class_<PyRun>& run);
void define_timeline(nanobind::module_& module, nanobind::class_<PyRun>& run);
void define_waits(nanobind::module_& module, nanobind::class_<PyRun>& run);

}  // namespace tare::bindings

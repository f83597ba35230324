// Processes of a run and their locations as rows for Python (Process and Location in _native.pyi).
#pragma once

#include <nanobind/nanobind.h>

#include "reader/run/run.h"

namespace tare::bindings {

// Both read the profiles of all processes.
nanobind::list process_rows(reader::Run& run);
nanobind::list location_rows(reader::Run& run);
// The spells of a trial, by world, rank and number.
nanobind::list spell_rows(reader::Run& run);

}  // namespace tare::bindings

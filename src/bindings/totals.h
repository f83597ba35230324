// Totals of the whole run, as rows for Python (FunctionTotal and SiteTotal in _native.pyi).
#pragma once

#include <nanobind/nanobind.h>

#include "reader/run/run.h"

namespace tare::bindings {

nanobind::list function_total_rows(reader::Run& run);
// `query`: as for sums of the profile. Throws nanobind::value_error if it is none.
nanobind::list site_total_rows(reader::Run& run, const nanobind::dict& query);

}  // namespace tare::bindings

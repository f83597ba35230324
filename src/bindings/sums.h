// Profiles of a run, added up, as rows for Python (Questions and Answers in _native.pyi).
#pragma once

#include <nanobind/nanobind.h>

#include "reader/run/run.h"

namespace tare::bindings {

// For each kind of question the answers to each. Throws nanobind::value_error if there is no such question.
nanobind::dict sums(reader::Run& run, const nanobind::dict& questions);
// Totals of the whole run by function and call site, for such a query as those of profiles (SiteTotal in _native.pyi).
nanobind::list site_total_rows(reader::Run& run, const nanobind::dict& query);

}  // namespace tare::bindings

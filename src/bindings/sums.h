// Profiles of a run, added up, as rows for Python (Questions and Answers in _native.pyi).
#pragma once

#include <nanobind/nanobind.h>

#include "reader/run/run.h"

namespace tare::bindings {

// The answers to each question, by kind of question. Throws nanobind::value_error for an unknown kind.
nanobind::dict sums(reader::Run& run, const nanobind::dict& questions);
// Converts a query of profiles (SumsQuery in _native.pyi). Throws nanobind::value_error if it is none.
reader::SumsQuery sums_query(const nanobind::dict& wanted);

}  // namespace tare::bindings

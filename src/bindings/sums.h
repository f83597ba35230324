// Profiles of a run, added up, as rows for Python (Questions and Answers in _native.pyi).
#pragma once

#include <nanobind/nanobind.h>

#include "reader/run/run.h"

namespace tare::bindings {

// For each kind of question the answers to each. Throws nanobind::value_error if there is no such question.
nanobind::dict sums(reader::Run& run, const nanobind::dict& questions);

}  // namespace tare::bindings

// Single values of Arrow's arrays, for Python.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>

#include "reader/events/arrow.h"

namespace tare::bindings {

// The value; None if it is null, "…" for lists and structures.
nanobind::object value_of(const reader::arrow::Field& field, const reader::arrow::Array& array, std::size_t row);

}  // namespace tare::bindings

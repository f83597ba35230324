// Tables of Arrow for Python, by Arrow's PyCapsule interface.
#pragma once

#include <nanobind/nanobind.h>

#include "reader/events/arrow.h"

namespace tare::bindings {

// A stream of the batches that `next` makes, which is called without the interpreter lock, by any thread.
nanobind::object arrow_stream(reader::arrow::Schema schema, reader::arrow::Next next);

// The schema that such a stream has.
nanobind::object arrow_schema(reader::arrow::Schema schema);

}  // namespace tare::bindings

// Single values of Arrow's arrays, for Python.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <string>
#include <vector>

#include "reader/events/arrow.h"

namespace tare::bindings {

// The value; None if it is null. Lists are lists, structures are dicts.
nanobind::object value_of(const reader::arrow::Field& field, const reader::arrow::Array& array, std::size_t row);

// The values of the column with this name, batch by batch; None if the schema has no such column.
class ColumnValues {
 public:
  ColumnValues(const reader::arrow::Schema& schema, const std::string& name);
  nanobind::object at(const std::vector<reader::arrow::Array>& columns, std::size_t row);

 private:
  const reader::arrow::Field* field_ = nullptr;
  std::size_t column_ = 0;
  std::vector<nanobind::object> texts_;  // of the dictionary; made when they are needed
};

}  // namespace tare::bindings

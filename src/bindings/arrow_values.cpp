#include "bindings/arrow_values.h"

#include <cstdint>
#include <string_view>

#include "bindings/convert.h"

namespace tare::bindings {
namespace {

namespace arrow = reader::arrow;

bool bit(const void* bits, std::size_t at) {
  return (static_cast<const std::uint8_t*>(bits)[at / 8] >> at % 8 & 1) != 0;
}

// Whether the value is not null.
bool is_there(const arrow::Array& array, std::size_t row) {
  const void* there = array.nulls == 0 ? nullptr : array.validity.data;
  return there == nullptr || bit(there, row);
}

template <typename T>
T number(const arrow::Array& array, std::size_t row) {
  return static_cast<const T*>(array.values.data)[row];
}

nb::object text_at(const arrow::Array& texts, std::size_t row) {
  const auto from = static_cast<std::size_t>(number<std::int32_t>(texts, row));
  const auto to = static_cast<std::size_t>(number<std::int32_t>(texts, row + 1));
  return text(std::string_view(static_cast<const char*>(texts.contents.data) + from, to - from));
}

}  // namespace

nb::object value_of(const arrow::Field& field, const arrow::Array& array, std::size_t row) {
  if (!is_there(array, row)) return nb::none();
  switch (field.type) {
    case arrow::Type::boolean:
      return nb::bool_(bit(array.values.data, row));
    case arrow::Type::int32:
      return nb::int_(number<std::int32_t>(array, row));
    case arrow::Type::int64:
      return nb::int_(number<std::int64_t>(array, row));
    case arrow::Type::uint64:
      return nb::int_(number<std::uint64_t>(array, row));
    case arrow::Type::float64:
      return nb::float_(number<double>(array, row));
    case arrow::Type::utf8:
      return text_at(array, row);
    case arrow::Type::dictionary:
      return text_at(*field.dictionary, static_cast<std::size_t>(number<std::int32_t>(array, row)));
    case arrow::Type::list: {
      nb::list items;
      const auto first = static_cast<std::size_t>(number<std::int32_t>(array, row));
      const auto last = static_cast<std::size_t>(number<std::int32_t>(array, row + 1));
      for (std::size_t i = first; i < last; ++i) items.append(value_of(field.children[0], array.children[0], i));
      return items;
    }
    case arrow::Type::structure: {
      nb::dict members;
      for (std::size_t i = 0; i < field.children.size(); ++i)
        members[field.children[i].name.c_str()] = value_of(field.children[i], array.children[i], row);
      return members;
    }
  }
  return nb::none();
}

ColumnValues::ColumnValues(const arrow::Schema& schema, const std::string& name) {
  for (std::size_t i = 0; i < schema.size(); ++i) {
    if (schema[i].name != name) continue;
    field_ = &schema[i];
    column_ = i;
    if (field_->type == arrow::Type::dictionary) texts_.resize(field_->dictionary->length);
  }
}

nb::object ColumnValues::at(const std::vector<arrow::Array>& columns, std::size_t row) {
  if (field_ == nullptr) return nb::none();
  const arrow::Array& array = columns[column_];
  if (field_->type != arrow::Type::dictionary || !is_there(array, row)) return value_of(*field_, array, row);
  nb::object& known = texts_[static_cast<std::size_t>(number<std::int32_t>(array, row))];
  if (!known.is_valid()) known = value_of(*field_, array, row);
  return known;
}

}  // namespace tare::bindings

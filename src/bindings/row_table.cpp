#include "bindings/row_table.h"

#include <nanobind/stl/vector.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bindings/arrow_stream.h"
#include "bindings/convert.h"
#include "bindings/text.h"
#include "reader/events/event_batch.h"

namespace tare::bindings {
namespace {

namespace arrow = reader::arrow;

constexpr std::int64_t no_number = INT64_MIN;

template <typename T>
arrow::Array numbers(const nb::list& values, T nothing, const std::shared_ptr<arrow::Arena>& arena) {
  const std::size_t count = values.size();
  T* column = arena->allocate<T>(count);
  auto* there = arena->allocate<std::uint8_t>(count / 8 + 1);
  std::fill_n(there, count / 8 + 1, std::uint8_t{0});
  std::int64_t nulls = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const nb::handle value = values[i];
    column[i] = value.is_none() ? nothing : nb::cast<T>(value);
    if (value.is_none())
      ++nulls;
    else
      there[i / 8] = static_cast<std::uint8_t>(there[i / 8] | 1U << i % 8);
  }
  return {count, nulls, {there, arena}, {column, arena}, {}};
}

// A column of values, or None.
std::pair<arrow::Field, arrow::Array> column_of(const std::string& name, const std::string& type,
                                                const nb::list& values, const std::shared_ptr<arrow::Arena>& arena) {
  if (type == "int64") return {{name, arrow::Type::int64}, numbers<std::int64_t>(values, 0, arena)};
  if (type == "int32") return {{name, arrow::Type::int32}, numbers<std::int32_t>(values, 0, arena)};
  if (type == "float64") return {{name, arrow::Type::float64}, numbers<double>(values, 0, arena)};
  if (type == "bool") {
    arrow::Array bytes = numbers<std::uint8_t>(values, 0, arena);
    const auto* truth = static_cast<const std::uint8_t*>(bytes.values.data);
    auto* bits = arena->allocate<std::uint8_t>(bytes.length / 8 + 1);
    std::fill_n(bits, bytes.length / 8 + 1, std::uint8_t{0});
    for (std::size_t i = 0; i < bytes.length; ++i)
      bits[i / 8] = static_cast<std::uint8_t>(bits[i / 8] | (truth[i] != 0 ? 1U : 0U) << i % 8);
    bytes.values = {bits, arena};
    return {arrow::Field{name, arrow::Type::boolean}, std::move(bytes)};
  }
  if (type != "text") throw nb::value_error(("there is no type " + type).c_str());
  arrow::Dictionary texts;
  std::vector<std::int32_t> indices;
  for (const nb::handle value : values)
    indices.push_back(value.is_none() ? reader::absent : texts.number_of(nb::cast<std::string>(value)));
  auto* column = arena->allocate<std::int32_t>(indices.size());
  std::copy(indices.begin(), indices.end(), column);
  arrow::Array array{indices.size(), 0, {}, {column, arena}, {}};
  reader::mark_absent(array, column, reader::absent, arena);
  return {arrow::Field{name, arrow::Type::dictionary, true, {}, texts.array()}, std::move(array)};
}

class RowTable {
 public:
  RowTable(const std::vector<std::string>& names, const std::vector<std::string>& types,
           const std::vector<nb::list>& columns) {
    if (names.size() != types.size() || names.size() != columns.size())
      throw nb::value_error("as many names, types and columns are needed");
    const auto arena = std::make_shared<arrow::Arena>(arrow::Arena::make_pool());
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (columns[i].size() != columns[0].size()) throw nb::value_error("columns of one length are needed");
      auto [field, array] = column_of(names[i], types[i], columns[i], arena);
      schema_.push_back(std::move(field));
      arrays_.push_back(std::move(array));
    }
  }

  nb::object stream(const nb::object& /* requested_schema */) const {
    const auto next = [arrays = arrays_, given = false](std::vector<arrow::Array>& columns) mutable -> std::size_t {
      if (std::exchange(given, true) || arrays.empty()) return 0;
      columns = arrays;
      return arrays.front().length;
    };
    return arrow_stream(schema_, next);
  }

 private:
  arrow::Schema schema_;
  std::vector<arrow::Array> arrays_;
};

}  // namespace

void define_row_table(nb::module_& module) {
  using namespace nb::literals;
  nb::class_<RowTable>(module, "RowTable", "A table made of lists, for anything that reads Arrow.")
      .def(nb::init<const std::vector<std::string>&, const std::vector<std::string>&, const std::vector<nb::list>&>(),
           "names"_a, "types"_a, "columns"_a)
      .def("__arrow_c_stream__", &RowTable::stream, "requested_schema"_a = nb::none());
}

}  // namespace tare::bindings

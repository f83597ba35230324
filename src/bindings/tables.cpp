#include "bindings/tables.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bindings/arrow_stream.h"
#include "bindings/arrow_values.h"
#include "bindings/convert.h"
#include "bindings/text.h"
#include "reader/tables/profile_table.h"
#include "reader/tables/tables.h"

namespace tare::bindings {
namespace {

using reader::TableKind;
using reader::TableStream;

using Open = std::function<reader::Result<TableStream>(reader::Run& run)>;

// A table to read. Each stream of it reads the run again.
class Table {
 public:
  Table(std::shared_ptr<PyRun::Shared> run, Open open) : shared_(std::move(run)), open_(std::move(open)) {}

  // If a consumer asks for another schema, it must cast to it.
  nb::object stream(const nb::object& /* requested_schema */) const {
    auto table = std::make_shared<TableStream>(open());
    const auto next = [shared = shared_, table](std::vector<reader::arrow::Array>& columns) {
      const std::size_t rows = table->next(columns);
      if (rows == 0) shared->set_stream_warnings(table->warnings());
      return rows;
    };
    return arrow_stream(table->schema, next);
  }

  // The names of the columns, the first rows, and the number of all if it is known at the start.
  nb::tuple head(std::size_t most) const {
    TableStream table = open();
    nb::list names;
    for (const reader::arrow::Field& field : table.schema) names.append(text(field.name));
    nb::list rows;
    std::vector<reader::arrow::Array> columns;
    while (rows.size() < most) {
      const std::size_t count = table.next(columns);
      if (count == 0) break;
      for (std::size_t row = 0; row < count && rows.size() < most; ++row) {
        nb::list cells;
        for (std::size_t column = 0; column < columns.size(); ++column)
          cells.append(value_of(table.schema[column], columns[column], row));
        rows.append(cells);
      }
    }
    const nb::object known = table.rows ? nb::object(nb::int_(*table.rows)) : nb::none();
    return nb::make_tuple(names, rows, known);
  }

  // In notebooks.
  nb::object html(const nb::handle self) const { return nb::module_::import_("tare.tables.html").attr("head")(self); }

 private:
  TableStream open() const {
    const nb::gil_scoped_release unlocked;
    return unwrap(open_(shared_->run));
  }

  std::shared_ptr<PyRun::Shared> shared_;
  Open open_;
};

Open open_of(const std::string& name) {
  const TableKind* kind = reader::find_table(name);
  if (kind == nullptr) throw nb::value_error(("the reader makes no table " + name).c_str());
  return kind->open;
}

Open open_profile(const std::vector<std::string>& by, const reader::Wanted& ranks) {
  std::vector<reader::ProfileKey> keys;
  for (const std::string& name : by) {
    const auto key = reader::profile_key(name);
    if (!key) throw nb::value_error(("the profile has no key " + name).c_str());
    keys.push_back(*key);
  }
  return [keys, ranks](reader::Run& run) { return reader::profile_table(run, keys, ranks); };
}

}  // namespace

void define_tables(nb::module_& module, nb::class_<PyRun>& run) {
  using namespace nb::literals;
  nb::class_<Table>(module, "Table", "A table of a run, for anything that reads Arrow.")
      .def("__arrow_c_stream__", &Table::stream, "requested_schema"_a = nb::none())
      .def("head", &Table::head, "most"_a)
      .def("_repr_html_", [](const nb::handle self) { return nb::cast<const Table&>(self).html(self); });
  run.def(
      "table", [](const PyRun& of, const std::string& name) { return Table(of.shared(), open_of(name)); }, "name"_a);
  run.def(
      "profile_table",
      [](const PyRun& of, const std::vector<std::string>& by, const reader::Wanted& ranks) {
        return Table(of.shared(), open_profile(by, ranks));
      },
      "by"_a, "ranks"_a = nb::none());
  const auto nothing = [] { return std::make_shared<PyRun::Shared>(unwrap(reader::Run::of_memory({}))); };
  module.def(
      "empty_table", [nothing](const std::string& name) { return Table(nothing(), open_of(name)); }, "name"_a,
      "The table of a run in which nothing was recorded.");
  module.def(
      "empty_profile_table",
      [nothing](const std::vector<std::string>& by) { return Table(nothing(), open_profile(by, std::nullopt)); },
      "by"_a, "The same of its profile.");
  module.def(
      "tables",
      [] {
        nb::list all;
        for (const TableKind& kind : reader::table_kinds()) all.append(nb::make_tuple(kind.name, kind.row));
        return all;
      },
      "The tables of a run: names, and what a row is.");
}

}  // namespace tare::bindings

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bindings/arrow_stream.h"
#include "bindings/arrow_values.h"
#include "bindings/convert.h"
#include "bindings/parts.h"
#include "bindings/text.h"
#include "reader/events/event_tables.h"
#include "reader/tables/profile_table.h"
#include "reader/tables/row_tables.h"
#include "reader/tables/tables.h"

namespace tare::bindings {
namespace {

using reader::TableKind;
using reader::TableStream;

using reader::Result;

using Open = std::function<reader::Result<TableStream>(reader::Run& run)>;

// The type of the rows of a kind of tables: a named tuple with all declared columns. Made once, and never released.
nb::handle row_type(const TableKind& kind) {
  static std::map<const TableKind*, PyTypeObject*> types;
  PyTypeObject*& type = types[&kind];
  if (type == nullptr) {
    auto* name = new std::string(std::string("tare._native.") + kind.row_type);
    auto* fields = new std::vector<PyStructSequence_Field>;
    for (const reader::DeclaredColumn& column : kind.columns) fields->push_back({column.name, nullptr});
    fields->push_back({nullptr, nullptr});
    PyStructSequence_Desc description{name->c_str(), kind.row, fields->data(), static_cast<int>(kind.columns.size())};
    type = PyStructSequence_NewType(&description);
    if (type == nullptr) throw nb::python_error();
  }
  return reinterpret_cast<PyObject*>(type);
}

// A table to read. Each stream of it reads the run again.
class Table {
 public:
  Table(std::shared_ptr<PyRun::Shared> run, const TableKind& kind, Open open)
      : shared_(std::move(run)), kind_(&kind), open_(std::move(open)) {}

  // Without reading the run: that of a run in which nothing was recorded is the same.
  nb::object schema() const {
    reader::Run none = reader::Run::empty();
    return arrow_schema(unwrap(open_(none)).schema);
  }

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

  // All rows. Columns that this table lacks are None.
  nb::list rows() const {
    const nb::handle type = row_type(*kind_);
    TableStream table = open();
    std::vector<ColumnValues> values;
    for (const reader::DeclaredColumn& column : kind_->columns) values.emplace_back(table.schema, column.name);
    nb::list rows;
    std::vector<reader::arrow::Array> columns;
    while (const std::size_t count = next(table, columns)) {
      for (std::size_t row = 0; row < count; ++row) {
        nb::object made = nb::steal(PyStructSequence_New(reinterpret_cast<PyTypeObject*>(type.ptr())));
        for (std::size_t i = 0; i < values.size(); ++i)
          PyStructSequence_SetItem(made.ptr(), static_cast<Py_ssize_t>(i), values[i].at(columns, row).release().ptr());
        rows.append(made);
      }
    }
    shared_->set_stream_warnings(table.warnings());
    return rows;
  }

  // The names of the columns, the first rows, and the number of all if it is known at the start.
  using Cells = nb::typed<nb::list, nb::object>;
  std::tuple<std::vector<std::string>, std::vector<Cells>, std::optional<std::uint64_t>> head(std::size_t most) const {
    TableStream table = open();
    std::vector<std::string> names;
    for (const reader::arrow::Field& field : table.schema) names.push_back(field.name);
    std::vector<Cells> rows;
    std::vector<reader::arrow::Array> columns;
    while (rows.size() < most) {
      const std::size_t count = table.next(columns);
      if (count == 0) break;
      for (std::size_t row = 0; row < count && rows.size() < most; ++row) {
        Cells cells;
        for (std::size_t column = 0; column < columns.size(); ++column)
          cells.append(value_of(table.schema[column], columns[column], row));
        rows.push_back(cells);
      }
    }
    return {std::move(names), std::move(rows), table.rows};
  }

  // In notebooks.
  nb::object html(const nb::handle self) const { return nb::module_::import_("tare.runs.html").attr("head")(self); }

 private:
  static std::size_t next(TableStream& table, std::vector<reader::arrow::Array>& columns) {
    const nb::gil_scoped_release unlocked;
    return table.next(columns);
  }
  TableStream open() const {
    const nb::gil_scoped_release unlocked;
    return unwrap(open_(shared_->run));
  }

  std::shared_ptr<PyRun::Shared> shared_;
  const TableKind* kind_;
  Open open_;
};

const TableKind& kind_of(const std::string& name) {
  const TableKind* kind = reader::find_table(name);
  if (kind == nullptr) throw nb::value_error(("the reader makes no table " + name).c_str());
  return *kind;
}

using Names = std::optional<std::vector<std::string>>;

std::vector<reader::ProfileKey> profile_keys(const std::vector<std::string>& by) {
  std::vector<reader::ProfileKey> keys;
  for (const std::string& name : by) {
    const auto key = reader::profile_key(name);
    if (!key) throw nb::value_error(("the profile has no key " + name).c_str());
    keys.push_back(*key);
  }
  return keys;
}

reader::TablesQuery tables_query(const std::vector<std::string>& by, const reader::Wanted& worlds,
                                 const reader::Wanted& ranks, const Names& communicators, const reader::Run& run) {
  const auto has = [](const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  reader::TablesQuery query{.rank = has(by, "rank"), .communicator = has(by, "communicator")};
  query.worlds = worlds;
  query.ranks = ranks;
  if (communicators) query.communicators = reader::communicators_named(run, *communicators);
  return query;
}

}  // namespace

void define_tables(nb::module_& module, nb::class_<PyRun>& run) {
  using namespace nb::literals;
  nb::class_<Table>(module, "Table", nb::sig("class Table(typing.Generic[Row])"),
                    "A table of a run, for anything that reads Arrow; every stream of it reads the run anew.")
      .def("__arrow_c_schema__", &Table::schema)
      .def("__arrow_c_stream__", &Table::stream, "requested_schema"_a = nb::none())
      .def("rows", &Table::rows, nb::sig("def rows(self) -> list[Row]"),
           "All rows, as named tuples; columns that this table lacks are None.")
      .def("head", &Table::head, "most"_a,
           "Names of the columns, the first rows, and the number of all rows if it is known at the start.")
      .def("_repr_html_", [](const nb::handle self) { return nb::cast<const Table&>(self).html(self); });
  run.def(
      "table",
      [](const PyRun& of, const std::string& name) { return Table(of.shared(), kind_of(name), kind_of(name).open); },
      "name"_a, nb::sig("def table(self, name: str) -> Table[typing.Any]"), "ValueError if there is no such table.");
  run.def(
      "event_table",
      [](const PyRun& of, std::optional<std::vector<int>> ranks, const Names& functions,
         std::optional<std::int64_t> start_ns, std::optional<std::int64_t> end_ns, std::uint64_t limit,
         const Names& columns) {
        const reader::EventFilter filter{std::move(ranks), functions, start_ns, end_ns, limit};
        return Table(of.shared(), kind_of("events"),
                     [filter, columns](reader::Run& from) { return reader::event_table(from, filter, columns); });
      },
      "ranks"_a, "functions"_a, "start_ns"_a, "end_ns"_a, "limit"_a, "columns"_a,
      nb::sig("def event_table(self, ranks: collections.abc.Sequence[int] | None, "
              "functions: collections.abc.Sequence[str] | None, start_ns: int | None, end_ns: int | None, "
              "limit: int, columns: collections.abc.Sequence[str] | None) -> Table[EventsRow]"));
  run.def(
      "profile",
      [](const PyRun& of, const std::vector<std::string>& by, const Names& functions, const reader::Wanted& ranks,
         const Names& communicators, const reader::Wanted& worlds, bool callers_alone) {
        const reader::ProfileChoice choice{functions, communicators, ranks, worlds, callers_alone};
        return Table(of.shared(), kind_of("profile"), [keys = profile_keys(by), choice](reader::Run& from) {
          return reader::profile_table(from, keys, choice);
        });
      },
      "by"_a, "functions"_a = nb::none(), "ranks"_a = nb::none(), "communicators"_a = nb::none(),
      "worlds"_a = nb::none(), "callers_alone"_a = false,
      nb::sig("def profile(self, by: collections.abc.Sequence[str], "
              "functions: collections.abc.Sequence[str] | None = None, "
              "ranks: collections.abc.Sequence[int] | None = None, "
              "communicators: collections.abc.Sequence[str] | None = None, "
              "worlds: collections.abc.Sequence[int] | None = None, "
              "callers_alone: bool = False) -> Table[ProfileRow]"),
      "The profile by these keys; ValueError if there is no such key.");
  run.def(
      "expect_profile",
      [](PyRun& of, const std::vector<std::string>& by, const Names& functions, const reader::Wanted& ranks,
         const Names& communicators, const reader::Wanted& worlds, bool callers_alone) {
        const auto keys = profile_keys(by);
        const nb::gil_scoped_release unlocked;
        of.run().expect(reader::profile_questions(of.run(), reader::keys_of(keys),
                                                  {functions, communicators, ranks, worlds, callers_alone}));
      },
      "by"_a, "functions"_a = nb::none(), "ranks"_a = nb::none(), "communicators"_a = nb::none(),
      "worlds"_a = nb::none(), "callers_alone"_a = false,
      "The next reading of the profiles answers what it asks, too.");
  const auto define = [&](const char* name, const char* row,
                          Result<TableStream> (*make)(reader::Run&, const reader::TablesQuery&)) {
    const std::string signature = std::string("def ") + name +
                                  "(self, by: collections.abc.Sequence[str], "
                                  "worlds: collections.abc.Sequence[int] | None = None, "
                                  "ranks: collections.abc.Sequence[int] | None = None, "
                                  "communicators: collections.abc.Sequence[str] | None = None) -> Table[" +
                                  row + "]";
    run.def(
        name,
        [name, make](PyRun& of, const std::vector<std::string>& by, const reader::Wanted& worlds,
                     const reader::Wanted& ranks, const Names& communicators) {
          const auto query = tables_query(by, worlds, ranks, communicators, of.run());
          return Table(of.shared(), kind_of(name), [make, query](reader::Run& from) { return make(from, query); });
        },
        "by"_a, "worlds"_a = nb::none(), "ranks"_a = nb::none(), "communicators"_a = nb::none(),
        nb::sig(signature.c_str()));
  };
  define("peers", "PeersRow", reader::peer_table);
  define("phases", "PhasesRow", reader::phase_table);
  run.def("expect_phases", [](PyRun& of) { of.run().expect({.phases = {reader::TablesQuery{}}}); });
  run.def(
      "expect_exchanges", [](PyRun& of, std::int32_t max_groups) { of.run().expect({.exchanges = {max_groups}}); },
      "max_groups"_a);
  module.def("event_columns", [] {
    std::vector<std::string> names;
    for (const reader::DeclaredColumn& column : reader::events_columns) names.emplace_back(column.name);
    return names;
  });
  module.def(
      "tables",
      [] {
        std::vector<std::pair<std::string, std::string>> all;
        for (const TableKind& kind : reader::table_kinds()) all.emplace_back(kind.name, kind.row);
        return all;
      },
      "The tables of a run: names, and what a row is.");
}

}  // namespace tare::bindings

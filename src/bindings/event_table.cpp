#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <utility>

#include "bindings/arrow_stream.h"
#include "bindings/convert.h"
#include "bindings/parts.h"
#include "bindings/text.h"
#include "reader/events/event_tables.h"

namespace tare::bindings {
namespace {

// The events to read. Each stream of them reads the trace again.
class EventTable {
 public:
  EventTable(std::shared_ptr<PyRun::Shared> run, reader::EventFilter filter,
             std::optional<std::vector<std::string>> columns)
      : shared_(std::move(run)), filter_(std::move(filter)), columns_(std::move(columns)) {
    for (const std::string& name : columns_ ? *columns_ : std::vector<std::string>{})
      if (!is_column(name)) throw nb::value_error(("events have no column " + name).c_str());
  }

  // Without reading the run (Table::schema).
  nb::object schema() const {
    reader::Run none = reader::Run::empty();
    return arrow_schema(open(none).schema());
  }

  // If a consumer asks for another schema, it must cast to it.
  nb::object stream(const nb::object& /* requested_schema */) const {
    auto tables = std::make_shared<reader::EventTables>(open(shared_->run));
    // Called without the interpreter lock, by any thread.
    const auto next = [shared = shared_, tables](std::vector<reader::arrow::Array>& columns) {
      const std::size_t rows = tables->next(columns);
      if (rows == 0) shared->set_stream_warnings(tables->warnings());
      return rows;
    };
    return arrow_stream(tables->schema(), next);
  }

 private:
  static bool is_column(const std::string& name) {
    for (const std::string& each : reader::EventTables::column_names())
      if (each == name) return true;
    return false;
  }
  reader::EventTables open(reader::Run& run) const {
    const nb::gil_scoped_release unlocked;
    return unwrap(reader::EventTables::open(run, filter_, columns_));
  }

  std::shared_ptr<PyRun::Shared> shared_;
  reader::EventFilter filter_;
  std::optional<std::vector<std::string>> columns_;
};

}  // namespace

void define_event_table(nb::module_& module, nb::class_<PyRun>& run) {
  using namespace nb::literals;
  nb::class_<EventTable>(module, "EventTable", "Events, for anything that reads Arrow.")
      .def("__arrow_c_schema__", &EventTable::schema)
      .def("__arrow_c_stream__", &EventTable::stream, "requested_schema"_a = nb::none());
  run.def(
      "event_table",
      [](const PyRun& of, std::optional<std::vector<int>> ranks, std::optional<std::vector<std::string>> functions,
         std::optional<std::int64_t> start_ns, std::optional<std::int64_t> end_ns, std::uint64_t limit,
         std::optional<std::vector<std::string>> columns) {
        return EventTable(of.shared(), {std::move(ranks), std::move(functions), start_ns, end_ns, limit},
                          std::move(columns));
      },
      "ranks"_a = nb::none(), "functions"_a = nb::none(), "start_ns"_a = nb::none(), "end_ns"_a = nb::none(),
      "limit"_a = 0, "columns"_a = nb::none());
  module.def("event_columns", &reader::EventTables::column_names, "Of the table of events.");
}

}  // namespace tare::bindings

#include "bindings/tables.h"

#include <memory>
#include <string_view>
#include <utility>

#include "bindings/arrow_stream.h"
#include "bindings/convert.h"
#include "bindings/text.h"
#include "reader/matching/match_tables.h"
#include "reader/matching/request_table.h"
#include "reader/waits/wait_report.h"

namespace tare::bindings {
namespace {

using reader::TableStream;

// What is to be read; every stream of it reads anew.
class Table {
 public:
  using Open = reader::Result<TableStream> (*)(reader::Run&);

  Table(std::shared_ptr<PyRun::Shared> run, Open open) : shared_(std::move(run)), open_(open) {}

  // Consumers cast to a schema that they ask for, if it is not what they get.
  nb::object stream(const nb::object& /* requested_schema */) const {
    auto table = std::make_shared<TableStream>(open());
    const auto next = [shared = shared_, table](std::vector<reader::arrow::Array>& columns) {
      const std::size_t rows = table->next(columns);
      if (rows == 0) shared->set_stream_warnings(table->warnings());
      return rows;
    };
    return arrow_stream(table->schema, next);
  }

 private:
  TableStream open() const {
    const nb::gil_scoped_release unlocked;
    return unwrap(open_(shared_->run));
  }

  std::shared_ptr<PyRun::Shared> shared_;
  Open open_;
};

Table::Open opener(const std::string& name) {
  constexpr std::pair<std::string_view, Table::Open> all[] = {{"messages", reader::message_table},
                                                              {"collectives", reader::collective_table},
                                                              {"requests", reader::request_table},
                                                              {"waits", reader::wait_table}};
  for (const auto& [known, open] : all)
    if (known == name) return open;
  throw nb::value_error(("there is no table " + name).c_str());
}

}  // namespace

void define_tables(nb::module_& module, nb::class_<PyRun>& run) {
  using namespace nb::literals;
  nb::class_<Table>(module, "Table", "A table of a run, for anything that reads Arrow.")
      .def("__arrow_c_stream__", &Table::stream, "requested_schema"_a = nb::none());
  run.def(
      "table", [](const PyRun& of, const std::string& name) { return Table(of.shared(), opener(name)); }, "name"_a);
  module.def(
      "empty_table",
      [](const std::string& name) {
        return Table(std::make_shared<PyRun::Shared>(unwrap(reader::Run::of_memory({}))), opener(name));
      },
      "name"_a, "The table of a run in which nothing was recorded.");
}

}  // namespace tare::bindings

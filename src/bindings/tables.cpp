#include "bindings/tables.h"

#include <memory>
#include <utility>

#include "bindings/arrow_stream.h"
#include "bindings/convert.h"
#include "bindings/text.h"
#include "reader/matching/match_tables.h"

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

}  // namespace

void define_tables(nb::module_& module, nb::class_<PyRun>& run) {
  using namespace nb::literals;
  nb::class_<Table>(module, "Table", "A table of a run, for anything that reads Arrow.")
      .def("__arrow_c_stream__", &Table::stream, "requested_schema"_a = nb::none());
  const auto define = [&run](const char* name, Table::Open open) {
    run.def(name, [open](const PyRun& of) { return Table(of.shared(), open); });
  };
  define("messages", reader::message_table);
  define("collectives", reader::collective_table);
}

}  // namespace tare::bindings

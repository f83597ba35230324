#include "bindings/imports.h"

#include <string>

#include "bindings/convert.h"
#include "bindings/text.h"
#include "importers/litl/import_litl.h"
#include "importers/litl/trace_file.h"
#include "reader/store/mapped_file.h"

namespace tare::bindings {

namespace nb = nanobind;
namespace litl = importers::litl;

void define_imports(nb::module_& module) {
  using namespace nb::literals;
  module.def(
      "is_litl",
      [](const std::string& path) {
        const auto file = reader::MappedFile::open(path);
        return file && litl::TraceFile::is_one(file->bytes());
      },
      "path"_a);
  module.def(
      "import_litl",
      [](const std::string& trace, const std::string& file, std::uint64_t start_ns) {
        const auto imported = [&]() -> reader::Result<litl::Imported> {
          const nb::gil_scoped_release unlocked;
          const auto source = reader::MappedFile::open(trace);
          if (!source) return source.failure();
          return litl::import_litl(source->bytes(), trace, file, start_ns);
        }();
        const litl::Imported done = unwrap(imported);
        nb::dict row;
        row["processes"] = done.processes;
        row["threads"] = done.threads;
        row["events"] = done.events;
        row["start_ns"] = done.start_ns;
        row["wall_ns"] = done.wall_ns;
        row["host"] = text(done.host);
        return row;
      },
      "trace"_a, "file"_a, "start_ns"_a);
}

}  // namespace tare::bindings

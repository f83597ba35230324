#include <string>

#include "bindings/fields.h"
#include "bindings/parts.h"
#include "importers/litl/import_litl.h"
#include "importers/litl/trace_file.h"
#include "reader/store/mapped_file.h"

namespace tare::bindings {

namespace nb = nanobind;
namespace litl = importers::litl;

void define_imports(nb::module_& module) {
  using namespace nb::literals;
  using litl::Imported;
  Fields<Imported>(
      module, "ImportedEvents",
      "What an import of a trace without MPI has found. `start_ns`: Unix time of the first event; `wall_ns`: "
      "from then to the last.")
      .members<&Imported::processes, &Imported::threads, &Imported::events, &Imported::start_ns, &Imported::wall_ns,
               &Imported::host>();
  module.def(
      "is_litl",
      [](const std::string& path) {
        const auto file = reader::MappedFile::open(path);
        return file && litl::TraceFile::is_one(file->bytes());
      },
      "path"_a, "Whether the file begins as a trace of LiTL does.");
  module.def(
      "import_litl",
      [](const std::string& trace, const std::string& file, std::uint64_t start_ns) {
        const auto imported = [&]() -> reader::Result<litl::Imported> {
          const nb::gil_scoped_release unlocked;
          const auto source = reader::MappedFile::open(trace);
          if (!source) return source.failure();
          return litl::import_litl(source->bytes(), trace, file, start_ns);
        }();
        return unwrap(imported);
      },
      "trace"_a, "file"_a, "start_ns"_a, "Makes a new file of a run of a trace of LiTL, whose first event was then.");
}

}  // namespace tare::bindings

// Exports to formats that need no library.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include "bindings/exports.h"
#include "bindings/text.h"
#include "exporters/formats.h"

namespace tare::bindings {

void define_exports(nanobind::class_<PyRun>& run) {
  using namespace nanobind::literals;
  const auto define = [&](const char* name, const Exporter& exporter) {
    run.def(
        name,
        [exporter](PyRun& self, std::string path, std::int64_t start_ns, std::optional<std::vector<int>> ranks,
                   std::optional<std::int64_t> from_ns, std::optional<std::int64_t> to_ns) {
          return export_with(exporter, self, {std::move(path), start_ns, std::move(ranks), from_ns, to_ns});
        },
        "path"_a, "start_ns"_a, "ranks"_a = nanobind::none(), "from_ns"_a = nanobind::none(),
        "to_ns"_a = nanobind::none());
  };
  define("export_paje", exporters::write_paje);
  define("export_perfetto", exporters::write_perfetto);
}

}  // namespace tare::bindings

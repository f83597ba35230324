// Exports to formats that need no library.
#include "bindings/exports.h"
#include "bindings/fields.h"
#include "bindings/parts.h"
#include "exporters/formats.h"

namespace tare::bindings {

void define_exports(nb::module_& module, nb::class_<PyRun>& run) {
  using namespace nanobind::literals;
  using exporters::TimelineSummary;
  Fields<TimelineSummary>(module, "Exported",
                          "What an export has written: calls and events of the program, regions and phases without an "
                          "end, and without a begin; and why messages were not all found.")
      .members<&TimelineSummary::events, &TimelineSummary::open, &TimelineSummary::ends>()
      .unless("obstacle", "", &TimelineSummary::obstacle);
  const auto define = [&](const char* name, const Exporter& exporter, const char* doc) {
    run.def(
        name,
        [exporter](PyRun& self, std::string path, std::int64_t start_ns, std::optional<std::vector<int>> ranks,
                   std::optional<std::int64_t> from_ns, std::optional<std::int64_t> to_ns) {
          return export_with(exporter, self, {std::move(path), start_ns, std::move(ranks), from_ns, to_ns});
        },
        "path"_a, "start_ns"_a, "ranks"_a = nanobind::none(), "from_ns"_a = nanobind::none(),
        "to_ns"_a = nanobind::none(), doc);
  };
  define("export_paje", exporters::write_paje, "Writes the trace in Pajé's format; the rest as export_perfetto().");
#ifdef TARE_PROTOZERO
  define("export_perfetto", exporters::write_perfetto, "Writes the trace for Perfetto.");
#endif
}

}  // namespace tare::bindings

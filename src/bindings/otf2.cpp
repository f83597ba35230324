// tare._otf2: the part that needs libotf2.

#include "exporters/formats.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include "bindings/exports.h"
#include "bindings/fields.h"
#include "importers/otf2/import_otf2.h"

NB_MODULE(_otf2, module) {
  using namespace tare::bindings;
  using namespace nanobind::literals;
  module.doc() = "Traces in OTF2.";
  // After Ctrl-C, threads of a server may still use objects of this module; that is no leak.
  nanobind::set_leak_warnings(false);
  // The classes Run and Error belong to that module.
  nanobind::module_::import_("tare._native");
  using tare::importers::otf2::Imported;
  Fields<Imported>(module, "Imported",
                   "What an import has found: so many calls of MPI, and regions that are never left, which are not "
                   "imported. `start_ns`: Unix time of the first event.")
      .members<&Imported::processes, &Imported::threads, &Imported::calls, &Imported::start_ns, &Imported::wall_ns,
               &Imported::unfinished, &Imported::host>();
  module.def(
      "export_otf2",
      [](PyRun& run, std::string path, std::int64_t start_ns, std::optional<std::vector<int>> ranks,
         std::optional<std::int64_t> from_ns, std::optional<std::int64_t> to_ns) {
        return export_with(tare::exporters::otf2::write_otf2, run,
                           {std::move(path), start_ns, std::move(ranks), from_ns, to_ns});
      },
      "run"_a, "path"_a, "start_ns"_a, "ranks"_a = nanobind::none(), "from_ns"_a = nanobind::none(),
      "to_ns"_a = nanobind::none(), "Writes the archive `path`/traces.otf2; the rest as Run.export_perfetto().");
  module.def(
      "import_otf2",
      [](const std::string& anchor, const std::string& file, std::uint64_t fallback_start_ns) {
        return unwrap(tare::importers::otf2::import_otf2(anchor, file, fallback_start_ns));
      },
      "anchor"_a, "file"_a, "fallback_start_ns"_a,
      "Makes a new file of a run of an archive, whose clock began then if it does not say when.");
}

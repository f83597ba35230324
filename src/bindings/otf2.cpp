// tare._otf2: the part that needs libotf2. Typed in python/tare/_otf2.pyi; keep the two in agreement.

#include "exporters/otf2/otf2.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings/convert.h"
#include "bindings/exports.h"
#include "importers/otf2/import_otf2.h"

NB_MODULE(_otf2, module) {
  using namespace tare::bindings;
  using namespace nanobind::literals;
  module.doc() = "Traces in OTF2.";
  // After Ctrl-C, threads of a server may still use objects of this module; that is no leak.
  nanobind::set_leak_warnings(false);
  // The classes Run and Error belong to that module.
  nanobind::module_::import_("tare._native");
  module.def(
      "export_otf2",
      [](PyRun& run, std::string path, std::int64_t start_ns, std::optional<std::vector<int>> ranks,
         std::optional<std::int64_t> from_ns, std::optional<std::int64_t> to_ns) {
        return export_with(tare::exporters::otf2::write_otf2, run,
                           {std::move(path), start_ns, std::move(ranks), from_ns, to_ns});
      },
      "run"_a, "path"_a, "start_ns"_a, "ranks"_a = nanobind::none(), "from_ns"_a = nanobind::none(),
      "to_ns"_a = nanobind::none());
  module.def(
      "import_otf2",
      [](const std::string& anchor, const std::string& file, std::uint64_t fallback_start_ns) {
        const auto done = unwrap(tare::importers::otf2::import_otf2(anchor, file, fallback_start_ns));
        nanobind::dict row;
        row["processes"] = done.processes;
        row["threads"] = done.threads;
        row["calls"] = done.calls;
        row["start_ns"] = done.start_ns;
        row["wall_ns"] = done.wall_ns;
        row["unfinished"] = done.unfinished;
        row["host"] = text(done.host);
        return row;
      },
      "anchor"_a, "file"_a, "fallback_start_ns"_a);
}

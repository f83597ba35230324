#include "bindings/exports.h"

#include "bindings/convert.h"

namespace tare::bindings {
namespace {

// This number of batches of events takes some tenths of a second.
constexpr unsigned batches_between_signals = 64;

// Whether the interpreter has nothing to raise.
bool nobody_interrupts() {
  const nb::gil_scoped_acquire locked;
  return PyErr_CheckSignals() == 0;
}

}  // namespace

exporters::TimelineSummary export_with(const Exporter& exporter, PyRun& run, ExportRequest request) {
  exporters::ExportOptions options;
  options.filter.ranks = std::move(request.ranks);
  options.filter.start_ns = request.from_ns;
  options.filter.end_ns = request.to_ns;
  options.start_ns = request.start_ns;
  unsigned batches = 0;
  options.goes_on = [&batches](std::uint64_t) {
    return ++batches % batches_between_signals != 0 || nobody_interrupts();
  };
  const auto work = [&] {
    const nb::gil_scoped_release unlocked;
    return exporter(run.run(), request.path, std::move(options));
  };
  auto done = work();
  if (PyErr_Occurred() != nullptr) throw nb::python_error();
  exporters::TimelineSummary summary = unwrap(std::move(done));
  run.set_stream_warnings(summary.warnings);
  return summary;
}

}  // namespace tare::bindings

#include "bindings/fields.h"
#include "bindings/parts.h"
#include "reader/retiming/clock_correction.h"
#include "reader/retiming/compensation.h"

namespace tare::bindings {
namespace {

// A method of Run that finds something without the interpreter lock.
template <typename Found>
auto method(reader::Result<Found> (*find)(reader::Run&)) {
  return [find](PyRun& run) {
    const nb::gil_scoped_release unlocked;
    return unwrap(find(run.run()));
  };
}

}  // namespace

void define_retiming(nb::module_& module, nb::class_<PyRun>& run) {
  using reader::ClockCorrection;
  using reader::Compensation;
  using reader::Violations;
  Fields<Violations>(
      module, "Violations",
      "Calls of a rank that ended before the other rank, whom they needed, began: by the clocks. That of "
      "`rank` is behind that of the other by at least `most_ns`.")
      .members<&Violations::world, &Violations::rank, &Violations::other_rank, &Violations::messages,
               &Violations::collectives, &Violations::most_ns>();
  Fields<ClockCorrection>(module, "ClockCorrection",
                          "What was done to the clocks: the violations as recorded, the largest first, and how many "
                          "remain after so many rounds of reading the trace.")
      .members<&ClockCorrection::violations, &ClockCorrection::max_moved_ns, &ClockCorrection::rounds,
               &ClockCorrection::remaining, &ClockCorrection::warnings>();
  Fields<Compensation>(
      module, "Compensation",
      "What was taken out of the times of a trace: of all threads together. It ends `earlier_ns` earlier.")
      .members<&Compensation::flush_ns, &Compensation::wrapper_ns, &Compensation::earlier_ns,
               &Compensation::warnings>();
  run.def("clock_violations", method(reader::clock_violations), "Reads the trace.");
  run.def("correct_clocks", method(reader::correct_clocks),
          "Moves the times of all events from now on; reads the trace once for each rank in a row.");
  run.def("compensate", method(reader::compensate), "Moves the times of all events from now on; reads the trace.");
}

}  // namespace tare::bindings

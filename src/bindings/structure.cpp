#include "bindings/structure.h"

#include "bindings/convert.h"
#include "bindings/text.h"
#include "reader/structure/iterations.h"

namespace tare::bindings {

nb::dict structure(reader::Run& run) {
  const auto found = [&] {
    const nb::gil_scoped_release unlocked;
    return unwrap(reader::run_structure(run));
  }();
  const std::vector<nb::object> functions = function_texts(run.functions());
  nb::list phases, loops;
  for (const reader::DetectedPhase& of : found.phases) {
    nb::dict row;
    row["world"] = of.world;
    row["number"] = of.number;
    row["phase"] = reader::phase_name(of.kind).c_str();
    row["start_ns"] = of.start_ns;
    row["end_ns"] = of.end_ns;
    row["mpi_share"] = of.mpi_share;
    row["function"] = functions[of.line.function];
    row["site"] = of.line.site;
    row["outside_calls"] = of.is_before;
    row["line_share"] = of.line_share;
    phases.append(row);
  }
  for (const reader::Loop& of : found.loops) {
    nb::dict row;
    row["world"] = of.world;
    row["rank"] = of.rank;
    row["number"] = of.phase;
    row["function"] = functions[of.line.function];
    row["site"] = of.line.site;
    row["iterations"] = of.iterations;
    row["median_ns"] = of.median_ns;
    row["longest_ns"] = of.longest_ns;
    row["slow_iterations"] = of.slow_iterations;
    row["beyond_ns"] = of.beyond_ns;
    nb::list slow;
    for (const reader::SlowIteration& each : of.slow) {
      nb::dict made;
      made["iteration"] = each.number;
      made["start_ns"] = each.iteration.start_ns;
      made["duration_ns"] = each.iteration.duration_ns;
      made["mpi_ns"] = each.iteration.mpi_ns;
      made["cause_rank"] = each.cause_rank;
      made["cause_function"] = functions[each.cause.function];
      made["cause_site"] = each.cause.site;
      made["cause_in_call"] = each.is_in_call;
      made["cause_ns"] = each.cause_ns;
      slow.append(made);
    }
    row["slow"] = slow;
    loops.append(row);
  }
  nb::dict result;
  result["phases"] = phases;
  result["loops"] = loops;
  return result;
}

}  // namespace tare::bindings

#include "bindings/structure.h"
#include "bindings/fields.h"
#include "bindings/parts.h"

namespace tare::bindings {
namespace {

Structure structure(PyRun& run) {
  const nb::gil_scoped_release unlocked;
  const reader::RunStructure found = unwrap(reader::run_structure(run.run()));
  const std::vector<std::string>& names = run.run().functions().names();
  Structure made;
  for (const reader::DetectedPhase& of : found.phases)
    made.phases.push_back({of, reader::phase_name(of.kind), names[of.line.function]});
  for (const reader::Loop& of : found.loops) {
    Loop& loop = made.loops.emplace_back(Loop{of, names[of.line.function], {}});
    for (const reader::SlowIteration& each : of.slow) loop.slow_named.push_back({each, names[each.cause.function]});
  }
  return made;
}

}  // namespace

void define_structure(nb::module_& module, nb::class_<PyRun>& run) {
  using reader::CalledLine, reader::Iteration;
  Fields<Phase>(
      module, "DetectedPhase",
      "A stretch of time in which the ranks of a world do alike; `phase` is equal where they do. Most of the time "
      "is in a call of `site` and before it; all outside MPI, before the call: `outside_calls`.")
      .members<&Phase::world, &Phase::number>()
      .field("phase", &Phase::letters)
      .members<&Phase::start_ns, &Phase::end_ns, &Phase::mpi_share, &Phase::function>()
      .members<&CalledLine::site>(&Phase::line)
      .field("outside_calls", &Phase::is_before)
      .members<&Phase::line_share>();
  Fields<Slow>(module, "SlowIteration",
               "One of the longest iterations, if it takes more than twice the third quartile.")
      .field("iteration", &Slow::number)
      .members<&Iteration::start_ns, &Iteration::duration_ns, &Iteration::mpi_ns>(&Slow::iteration)
      .members<&Slow::cause_rank, &Slow::cause_function>()
      .field("cause_site", &Slow::cause, &CalledLine::site)
      .field("cause_in_call", &Slow::is_in_call)
      .members<&Slow::cause_ns>()
      .field("cause_descheduled_ns", &Slow::cause_off, &reader::OffTimes::descheduled_ns)
      .field("cause_blocked_ns", &Slow::cause_off, &reader::OffTimes::blocked_ns);
  Fields<Loop>(module, "Loop",
               "The iterations of a rank in the detected phase `number`. They begin with calls of `site`. `has_gaps`: "
               "those of several ranks that have equal numbers need not correspond, as the trace has gaps.")
      .members<&Loop::world, &Loop::rank, &Loop::thread>()
      .field("number", &Loop::phase)
      .members<&Loop::function>()
      .members<&CalledLine::site>(&Loop::line)
      .members<&Loop::has_gaps, &Loop::iterations, &Loop::median_ns, &Loop::longest_ns, &Loop::slow_iterations,
               &Loop::beyond_ns>()
      .field("slow", &Loop::slow_named);
  Fields<Structure>(module, "Structure", "The phases by world and time, the loops by world, phase and rank.")
      .members<&Structure::phases, &Structure::loops>();
  run.def("structure", structure, "Reads the trace twice.");
}

}  // namespace tare::bindings

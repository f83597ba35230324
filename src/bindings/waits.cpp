#include "reader/waits/wait_report.h"

#include "bindings/fields.h"
#include "bindings/parts.h"
#include "bindings/words.h"

namespace nanobind::detail {

template <>
struct type_caster<tare::reader::WaitKind>
    : WordCaster<tare::reader::WaitKind, "late sender", "late receiver", "wait at barrier", "wait at NxN",
                 "late broadcast", "early reduce", "early scan", "late post", "early wait", "late complete",
                 "lock contention", "wait for progress"> {};
template <>
struct type_caster<tare::reader::Scheduled> : WordCaster<tare::reader::Scheduled, "running", "descheduled", "blocked"> {
};

}  // namespace nanobind::detail

namespace tare::bindings {
namespace {

using reader::ClockViolation, reader::SiteActivity;

// A row with the name of its function.
template <class Row>
struct Named : Row {
  std::string name;
};

struct Root : Named<reader::RootSum> {
  std::string cause_name;
};

struct WaitReport {
  std::vector<Named<reader::WaitSum>> waits;
  std::vector<Named<reader::AwaitedSum>> awaited;
  std::vector<Root> causes;
  std::vector<Named<reader::WrongOrder>> wrong_order;
  std::vector<Named<reader::UnexpectedSum>> unexpected;
  std::vector<Named<reader::OutsideSum>> outside;
  std::vector<Named<reader::PathSum>> critical_path;
  std::vector<ClockViolation> violations;
  std::vector<std::string> warnings;
};

WaitReport wait_report(PyRun& run) {
  const nb::gil_scoped_release unlocked;
  reader::WaitReport found = unwrap(reader::wait_report(run.run()));
  const std::vector<std::string>& names = run.run().functions().names();
  WaitReport made;
  const auto add = [&names](const auto& rows, auto& to) {
    for (const auto& row : rows) to.push_back({row, names[row.function]});
  };
  add(found.waits, made.waits);
  add(found.awaited, made.awaited);
  for (const reader::RootSum& row : found.causes)
    made.causes.push_back({{row, names[row.function]}, names[row.cause_function]});
  add(found.wrong_order, made.wrong_order);
  add(found.unexpected, made.unexpected);
  add(found.outside, made.outside);
  add(found.critical_path, made.critical_path);
  made.violations = std::move(found.violations);
  made.warnings = std::move(found.warnings);
  return made;
}

// The fields of all rows that begin with a rank and a function.
template <class Row>
Fields<Named<Row>> rows_of_rank(nb::module_& module, const char* name, const char* doc) {
  using Of = Named<Row>;
  Fields<Of> fields(module, name, doc);
  fields.template members<&Of::world, &Of::rank>().field("function", &Of::name);
  return fields;
}

// Those of a RootSum that Python has as lists.
template <class T, std::size_t size>
std::vector<T> listed(const std::array<T, size>& of) {
  return {of.begin(), of.end()};
}

}  // namespace

void define_waits(nb::module_& module, nb::class_<PyRun>& run) {
  using Wait = Named<reader::WaitSum>;
  rows_of_rank<reader::WaitSum>(module, "WaitSum",
                                "Wait states of one kind in the calls of one function and site of a rank. `site` is "
                                "one of Run.sites(), -1 if not known; so everywhere here.")
      .members<&Wait::site, &Wait::kind, &Wait::waits, &Wait::wait_ns, &Wait::longest_ns, &Wait::longest_start_ns,
               &Wait::longest_thread>();
  using Awaited = Named<reader::AwaitedSum>;
  rows_of_rank<reader::AwaitedSum>(module, "AwaitedSum",
                                   "The waits of one kind in the calls of a site, by the rank that they waited for.")
      .members<&Awaited::site, &Awaited::kind, &Awaited::wait_ns>();
  Fields<Root>(module, "RootSum",
               "The part of the waits of a kind in the calls of a site that an activity of a rank caused in the end: "
               "in calls of `cause_site`, or before them. `cause_rank` -1: not explained. `by_time` and "
               "`waits_by_time`: `wait_ns` and the number of waits in equally long parts of the run; each wait counts "
               "by the part of it that was caused so. `by_rank`: `wait_ns` of each rank, up to the last that waited.")
      .members<&Root::world, &Root::kind>()
      .field("function", &Root::name)
      .members<&Root::site, &Root::cause_rank>()
      .field("cause_function", &Root::cause_name)
      .field("cause_site", &Root::activity, &SiteActivity::site)
      .field("cause_in_call", &Root::activity, &SiteActivity::in_call)
      .field("cause_scheduled", &Root::activity, &SiteActivity::scheduled)
      .members<&Root::waits, &Root::wait_ns, &Root::longest_ns>()
      .value("by_time", [](const Root& of) { return listed(of.by_time); })
      .value("waits_by_time", [](const Root& of) { return listed(of.waits_by_time); })
      .members<&Root::by_rank>();
  using Order = Named<reader::WrongOrder>;
  rows_of_rank<reader::WrongOrder>(module, "WrongOrder",
                                   "Receives that waited while another message had arrived, on which the rank worked "
                                   "only afterwards; `time_ns` of this work would fit into the waits.")
      .members<&Order::site, &Order::waits, &Order::time_ns>();
  using Unexpected = Named<reader::UnexpectedSum>;
  rows_of_rank<reader::UnexpectedSum>(module, "UnexpectedSum",
                                      "Messages of a rank `source` that were sent before their receives at a site were "
                                      "posted. `slow` of these took more than twice as long as usual, `time_ns` longer "
                                      "in all; `longest_queue` of such messages lay at the rank at once.")
      .members<&Unexpected::source, &Unexpected::site, &Unexpected::messages, &Unexpected::bytes,
               &Unexpected::longest_queue, &Unexpected::slow, &Unexpected::time_ns>();
  using Outside = Named<reader::OutsideSum>;
  rows_of_rank<reader::OutsideSum>(module, "OutsideSum",
                                   "Time of a rank outside MPI before the calls of a site, parts of it in which it was "
                                   "on no processor, and the time in these calls in which it waited for a processor "
                                   "and no rank.")
      .members<&Outside::site, &Outside::time_ns, &Outside::descheduled_ns, &Outside::blocked_ns,
               &Outside::descheduled_in_calls_ns>();
  using Path = Named<reader::PathSum>;
  rows_of_rank<reader::PathSum>(module, "PathSum",
                                "Time of a rank on the critical path: in calls of a site, or before them; -1: behind "
                                "the last call.")
      .members<&SiteActivity::site, &SiteActivity::in_call>(&Path::activity)
      .members<&Path::time_ns>();
  Fields<ClockViolation>(module, "ClockViolation",
                         "Messages that seem to have been received before they were sent: the clocks disagree by "
                         "`most_ns` at least.")
      .members<&ClockViolation::world, &ClockViolation::source, &ClockViolation::destination, &ClockViolation::messages,
               &ClockViolation::most_ns>();
  Fields<WaitReport>(module, "WaitReport",
                     "What a traced run waited for; each list begins with what is largest, but for `outside`: by rank "
                     "and site.")
      .members<&WaitReport::waits, &WaitReport::awaited, &WaitReport::causes, &WaitReport::wrong_order,
               &WaitReport::unexpected, &WaitReport::outside, &WaitReport::critical_path>()
      .field("clock_violations", &WaitReport::violations)
      .members<&WaitReport::warnings>();
  run.def("wait_report", wait_report, "Reads the trace twice.");
}

}  // namespace tare::bindings

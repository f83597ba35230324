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
  fields.field("world", &Of::world).field("rank", &Of::rank).field("function", &Of::name);
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
      .field("site", &Wait::site)
      .field("kind", &Wait::kind)
      .field("waits", &Wait::waits)
      .field("wait_ns", &Wait::wait_ns)
      .field("longest_ns", &Wait::longest_ns)
      .field("longest_start_ns", &Wait::longest_start_ns)
      .field("longest_thread", &Wait::longest_thread);
  using Awaited = Named<reader::AwaitedSum>;
  rows_of_rank<reader::AwaitedSum>(module, "AwaitedSum",
                                   "The waits of one kind in the calls of a site, by the rank that they waited for.")
      .field("site", &Awaited::site)
      .field("kind", &Awaited::kind)
      .field("wait_ns", &Awaited::wait_ns);
  Fields<Root>(module, "RootSum",
               "The part of the waits of a kind in the calls of a site that an activity of a rank caused in the end: "
               "in calls of `cause_site`, or before them. `cause_rank` -1: not explained. `by_time` and "
               "`waits_by_time`: `wait_ns` and `waits` in equally long parts of the run. `by_rank`: `wait_ns` of each "
               "rank, up to the last that waited.")
      .field("world", &Root::world)
      .field("kind", &Root::kind)
      .field("function", &Root::name)
      .field("site", &Root::site)
      .field("cause_rank", &Root::cause_rank)
      .field("cause_function", &Root::cause_name)
      .field("cause_site", &Root::activity, &SiteActivity::site)
      .field("cause_in_call", &Root::activity, &SiteActivity::in_call)
      .field("cause_scheduled", &Root::activity, &SiteActivity::scheduled)
      .field("waits", &Root::waits)
      .field("wait_ns", &Root::wait_ns)
      .field("longest_ns", &Root::longest_ns)
      .value(
          "by_time", [](const Root& of) { return listed(of.by_time); },
          [](Root& of, const std::vector<double>& given) {
            std::copy_n(given.begin(), std::min(given.size(), of.by_time.size()), of.by_time.begin());
          })
      .value(
          "waits_by_time", [](const Root& of) { return listed(of.waits_by_time); },
          [](Root& of, const std::vector<std::uint64_t>& given) {
            std::copy_n(given.begin(), std::min(given.size(), of.waits_by_time.size()), of.waits_by_time.begin());
          })
      .field("by_rank", &Root::by_rank);
  using Order = Named<reader::WrongOrder>;
  rows_of_rank<reader::WrongOrder>(module, "WrongOrder",
                                   "Receives that waited while another message had arrived, on which the rank worked "
                                   "only afterwards; `time_ns` of this work would fit into the waits.")
      .field("site", &Order::site)
      .field("waits", &Order::waits)
      .field("time_ns", &Order::time_ns);
  using Unexpected = Named<reader::UnexpectedSum>;
  rows_of_rank<reader::UnexpectedSum>(module, "UnexpectedSum",
                                      "Messages of a rank `source` that were sent before their receives at a site were "
                                      "posted. `slow` of these took more than twice as long as usual, `time_ns` longer "
                                      "in all; `longest_queue` of such messages lay at the rank at once.")
      .field("source", &Unexpected::source)
      .field("site", &Unexpected::site)
      .field("messages", &Unexpected::messages)
      .field("bytes", &Unexpected::bytes)
      .field("longest_queue", &Unexpected::longest_queue)
      .field("slow", &Unexpected::slow)
      .field("time_ns", &Unexpected::time_ns);
  using Outside = Named<reader::OutsideSum>;
  rows_of_rank<reader::OutsideSum>(module, "OutsideSum",
                                   "Time of a rank outside MPI before the calls of a site, parts of it in which it was "
                                   "on no processor, and the time in these calls in which it waited for a processor "
                                   "and no rank.")
      .field("site", &Outside::site)
      .field("time_ns", &Outside::time_ns)
      .field("descheduled_ns", &Outside::descheduled_ns)
      .field("blocked_ns", &Outside::blocked_ns)
      .field("descheduled_in_calls_ns", &Outside::descheduled_in_calls_ns);
  using Path = Named<reader::PathSum>;
  rows_of_rank<reader::PathSum>(module, "PathSum",
                                "Time of a rank on the critical path: in calls of a site, or before them; -1: behind "
                                "the last call.")
      .field("site", &Path::activity, &SiteActivity::site)
      .field("in_call", &Path::activity, &SiteActivity::in_call)
      .field("time_ns", &Path::time_ns);
  Fields<ClockViolation>(module, "ClockViolation",
                         "Messages that seem to have been received before they were sent: the clocks disagree by "
                         "`most_ns` at least.")
      .field("world", &ClockViolation::world)
      .field("source", &ClockViolation::source)
      .field("destination", &ClockViolation::destination)
      .field("messages", &ClockViolation::messages)
      .field("most_ns", &ClockViolation::most_ns);
  Fields<WaitReport>(module, "WaitReport",
                     "What a traced run waited for; each list begins with what is largest, but for `outside`: by rank "
                     "and site.")
      .field("waits", &WaitReport::waits)
      .field("awaited", &WaitReport::awaited)
      .field("causes", &WaitReport::causes)
      .field("wrong_order", &WaitReport::wrong_order)
      .field("unexpected", &WaitReport::unexpected)
      .field("outside", &WaitReport::outside)
      .field("critical_path", &WaitReport::critical_path)
      .field("clock_violations", &WaitReport::violations)
      .field("warnings", &WaitReport::warnings);
  run.def("wait_report", wait_report, "Reads the trace twice.");
}

}  // namespace tare::bindings

#include <iterator>

#include "bindings/fields.h"
#include "bindings/parts.h"
#include "bindings/words.h"
#include "format/sample_spec.h"
#include "reader/run/sample_rows.h"

namespace nanobind::detail {
template <>
struct type_caster<tare::format::SampleMethod>
    : WordCaster<tare::format::SampleMethod, "stat", "freq", "write", "off"> {};
}  // namespace nanobind::detail

namespace tare::bindings {
namespace {

using Sampled = reader::SampledClass;
using Class = format::SampleClass;
using Histogram = std::vector<std::uint32_t>;

struct Summary {
  std::int32_t world = 0, rank = -1;
  format::SampleSummary of{};
  std::string analysis;
};

// Names of the bits of SampleJoining, in their order.
constexpr const char* joining_names[] = {"begun",         "met",       "met_late",       "several_nodes",
                                         "path_agreed",   "no_memory", "clocks_unknown", "some_take_no_part",
                                         "object_refused"};

std::vector<std::string> joining(const Summary& summary) {
  std::vector<std::string> names;
  for (unsigned bit = 0; bit < std::size(joining_names); ++bit)
    if ((summary.of.joining >> bit & 1U) != 0) names.emplace_back(joining_names[bit]);
  return names;
}

std::vector<Summary> sample_summaries(PyRun& run) {
  std::vector<Summary> all;
  run.run().samples([&](std::size_t i, const reader::Samples& samples) {
    const reader::Process& process = run.run().processes()[i];
    all.push_back({process.world, process.record.rank, samples.summary, samples.analysis});
  });
  return all;
}

// None if it is not known how many messages the samples represent.
auto weight(double Class::*member) {
  return [member](const Sampled& of) { return of.is_weight_known() ? std::optional(of.found.*member) : std::nullopt; };
}

std::optional<Histogram> histogram(const Sampled& of) {
  if ((of.found.flags & format::histogram_kept) == 0) return std::nullopt;
  return Histogram(std::begin(of.found.histogram), std::end(of.found.histogram));
}

format::SampleMethod sample_method(const std::string& spec) {
  format::SampleSpec parsed;
  if (const char* wrong = format::parse_sample_spec(spec.c_str(), parsed)) throw nb::value_error(wrong);
  return parsed.method;
}

void define_summaries(nb::module_& module) {
  using format::SampleSummary;
  Fields<Summary>(
      module, "SampleSummary",
      "What became of the messages that a rank sent and received. `joining`: how far the ranks have come to "
      "tell one another of messages. `analysis`: the result of the user's analysis; empty: none.")
      .members<&Summary::world, &Summary::rank>()
      .members<&SampleSummary::spec, &SampleSummary::sent, &SampleSummary::received, &SampleSummary::chosen,
               &SampleSummary::paired, &SampleSummary::ambiguous, &SampleSummary::ambiguous_received,
               &SampleSummary::unnumbered, &SampleSummary::unpaired, &SampleSummary::recordless,
               &SampleSummary::contradictory, &SampleSummary::lost, &SampleSummary::unreachable,
               &SampleSummary::clock_uncertainty_ns, &SampleSummary::clock_end_uncertainty_ns,
               &SampleSummary::clock_drift_ns, &SampleSummary::clock_span_ns, &SampleSummary::clock_rank>(&Summary::of)
      .value("joining", joining)
      .members<&Summary::analysis>();
}

}  // namespace

void define_samples(nb::module_& module, nb::class_<PyRun>& run) {
  using namespace nb::literals;
  Fields<Sampled>(
      module, "SampleRow",
      "Sampled messages of a class, received by `destination`. `source` is -1 for classes that are not told "
      "apart. They represent so many messages as `weight` says, None: not known.")
      .members<&Sampled::world>()
      .members<&Class::source>(&Sampled::found)
      .members<&Sampled::destination, &Sampled::send_site, &Sampled::receive_site>()
      .members<&Class::bytes>(&Sampled::found)
      .flag("between_nodes", format::between_nodes, &Sampled::found, &Class::flags)
      .members<&Class::count, &Class::unexpected>(&Sampled::found)
      .value("weight", weight(&Class::weight))
      .value("weight_squared", weight(&Class::weight_squared))
      .field("latency_ns", &Sampled::found, &Class::latency)
      .field("min_ns", &Sampled::found, &Class::latency_min)
      .field("max_ns", &Sampled::found, &Class::latency_max)
      .field("squared_ns2", &Sampled::found, &Class::latency_squared)
      .field("late_sender_ns", &Sampled::found, &Class::late_sender)
      .field("unposted_ns", &Sampled::found, &Class::unposted)
      .field("unwaited_ns", &Sampled::found, &Class::unwaited)
      .field("transfer_ns", &Sampled::found, &Class::transfer)
      .members<&Class::uncertainty_ns>(&Sampled::found)
      .value("histogram", histogram);
  define_summaries(module);
  run.def("samples", [](PyRun& of) { return reader::sampled_classes(of.run()); });
  run.def("sample_summaries", sample_summaries);
  module.def("sample_method", sample_method, "spec"_a,
             "The method of a spec of message sampling; ValueError, with what it ought to be, if it is none.");
}

}  // namespace tare::bindings

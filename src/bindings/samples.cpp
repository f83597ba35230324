#include "bindings/samples.h"

#include <cstring>
#include <iterator>

#include "format/sample_spec.h"
#include "reader/run/sample_rows.h"

namespace tare::bindings {

namespace nb = nanobind;

namespace {

nb::dict class_dict(const reader::SampledClass& sampled) {
  const format::SampleClass& c = sampled.found;
  nb::dict row;
  row["world"] = sampled.world;
  row["source"] = c.source;
  row["destination"] = sampled.destination;
  row["send_site"] = sampled.send_site;
  row["receive_site"] = sampled.receive_site;
  row["bytes"] = c.bytes;
  row["between_nodes"] = (c.flags & format::between_nodes) != 0;
  row["count"] = c.count;
  row["unexpected"] = c.unexpected;
  row["weight"] = sampled.is_weight_known() ? nb::cast(c.weight) : nb::none();
  row["weight_squared"] = sampled.is_weight_known() ? nb::cast(c.weight_squared) : nb::none();
  row["latency_ns"] = c.latency;
  row["min_ns"] = c.latency_min;
  row["max_ns"] = c.latency_max;
  row["squared_ns2"] = c.latency_squared;
  row["late_sender_ns"] = c.late_sender;
  row["unposted_ns"] = c.unposted;
  row["unwaited_ns"] = c.unwaited;
  row["transfer_ns"] = c.transfer;
  row["uncertainty_ns"] = c.uncertainty_ns;
  row["histogram"] = nb::none();
  if ((c.flags & format::histogram_kept) != 0) {
    nb::list bins;
    for (const std::uint32_t count : c.histogram) bins.append(count);
    row["histogram"] = bins;
  }
  return row;
}

// Names of the bits of SampleJoining, in their order.
nb::list joining_list(std::uint32_t joining) {
  constexpr const char* names[] = {"begun",       "met",       "met_late",       "several_nodes",
                                   "path_agreed", "no_memory", "clocks_unknown", "some_take_no_part"};
  nb::list said;
  for (unsigned bit = 0; bit < std::size(names); ++bit)
    if ((joining >> bit & 1U) != 0) said.append(names[bit]);
  return said;
}

nb::dict summary_dict(const reader::Process& process, const format::SampleSummary& summary) {
  nb::dict row;
  row["world"] = process.world;
  row["rank"] = process.record.rank;
  row["spec"] = nb::steal(
      PyUnicode_DecodeUTF8(summary.spec, static_cast<Py_ssize_t>(std::strlen(summary.spec)), "surrogateescape"));
  row["sent"] = summary.sent;
  row["received"] = summary.received;
  row["chosen"] = summary.chosen;
  row["paired"] = summary.paired;
  row["ambiguous"] = summary.ambiguous;
  row["ambiguous_received"] = summary.ambiguous_received;
  row["unnumbered"] = summary.unnumbered;
  row["unpaired"] = summary.unpaired;
  row["recordless"] = summary.recordless;
  row["contradictory"] = summary.contradictory;
  row["lost"] = summary.lost;
  row["unreachable"] = summary.unreachable;
  row["clock_uncertainty_ns"] = summary.clock_uncertainty_ns;
  row["clock_end_uncertainty_ns"] = summary.clock_end_uncertainty_ns;
  row["clock_drift_ns"] = summary.clock_drift_ns;
  row["clock_span_ns"] = summary.clock_span_ns;
  row["clock_rank"] = summary.clock_rank;
  row["joining"] = joining_list(summary.joining);
  return row;
}

}  // namespace

nb::list sample_rows(reader::Run& run) {
  nb::list rows;
  for (const reader::SampledClass& sampled : reader::sampled_classes(run)) rows.append(class_dict(sampled));
  return rows;
}

nb::list sample_summaries(reader::Run& run) {
  nb::list rows;
  run.samples([&](std::size_t i, const reader::Samples& samples) {
    rows.append(summary_dict(run.processes()[i], samples.summary));
  });
  return rows;
}

const char* sample_method(const std::string& spec) {
  format::SampleSpec parsed;
  if (const char* wrong = format::parse_sample_spec(spec.c_str(), parsed)) throw nb::value_error(wrong);
  constexpr const char* names[] = {"stat", "freq", "write", "off"};
  return names[static_cast<unsigned>(parsed.method)];
}

}  // namespace tare::bindings

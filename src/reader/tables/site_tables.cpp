// The tables of call sites and of sampled messages.
#include <cmath>

#include "reader/events/row_table.h"
#include "reader/run/sample_rows.h"

namespace tare::reader {
namespace {

// What tells the classes of sampled messages apart.
rows::SampledClass class_of(const SampledClass& sampled, const RunTexts& texts) {
  return {.world = sampled.world,
          .source = if_known(sampled.found.source),
          .destination = sampled.destination,
          .send_frame = texts.place(sampled.send_site).frame,
          .receive_frame = texts.place(sampled.receive_site).frame,
          .send_site = if_known(sampled.send_site),
          .receive_site = if_known(sampled.receive_site),
          .bytes = static_cast<std::int64_t>(sampled.found.bytes),
          .between_nodes = (sampled.found.flags & format::between_nodes) != 0};
}

}  // namespace

Result<TableStream> callsite_table(Run& run) {
  const RunTexts texts(run, SiteTexts::paths);
  std::vector<rows::Callsites> rows;
  rows.reserve(run.sites().size());
  for (std::int32_t site = 0; site < static_cast<std::int32_t>(run.sites().size()); ++site)
    if ((run.sites()[static_cast<std::size_t>(site)].flags & format::of_stack) == 0)
      rows.push_back({.site = site, .place = texts.place(site), .path = texts.path(site)});
  return stored_table(std::move(rows), texts);
}

Result<TableStream> site_total_table(Run& run) {
  const RunTexts texts(run, SiteTexts::paths);
  std::vector<rows::SiteTotals> rows;
  for (const SiteTotal& total : run.site_totals({.rank = true}))
    rows.push_back({.world_rank = {total.world, total.rank},
                    .pid = run.processes()[static_cast<std::size_t>(total.process)].record.pid,
                    .function = texts.function(total.function),
                    .site = if_known(total.site),
                    .place = texts.place(total.site),
                    .path = texts.path(total.site),
                    .calls = std::llround(total.calls),
                    .calls_error = rounded(total.calls_error),
                    .measured_calls = static_cast<std::int64_t>(total.measured_calls),
                    .total = total_of(total)});
  return stored_table(std::move(rows), texts);
}

Result<TableStream> sample_table(Run& run) {
  const RunTexts texts(run, SiteTexts::lines);
  const auto count = [](std::uint64_t number) { return static_cast<std::int64_t>(number); };
  std::vector<rows::Samples> rows;
  for (const SampledClass& sampled : sampled_classes(run)) {
    const format::SampleClass& found = sampled.found;
    rows.push_back({.sampled_class = class_of(sampled, texts),
                    .count = count(found.count),
                    .unexpected = count(found.unexpected),
                    .weight = sampled.is_weight_known() ? std::optional(found.weight) : std::nullopt,
                    .latency_ns = count(found.latency),
                    .min_ns = count(found.latency_min),
                    .max_ns = count(found.latency_max),
                    .late_sender_ns = count(found.late_sender),
                    .unposted_ns = count(found.unposted),
                    .unwaited_ns = count(found.unwaited),
                    .transfer_ns = count(found.transfer),
                    .uncertainty_ns = count(found.uncertainty_ns)});
  }
  return stored_table(std::move(rows), texts);
}

Result<TableStream> sample_histogram_table(Run& run) {
  const RunTexts texts(run, SiteTexts::lines);
  const auto end_of = [](unsigned bin) { return std::int64_t{1} << (format::first_latency_width + bin); };
  std::vector<rows::SampleHistograms> rows;
  for (const SampledClass& sampled : sampled_classes(run)) {
    if ((sampled.found.flags & format::histogram_kept) == 0) continue;
    for (unsigned bin = 0; bin < format::latency_bins; ++bin)
      if (const std::uint32_t count = sampled.found.histogram[bin]; count != 0)
        rows.push_back({.sampled_class = class_of(sampled, texts),
                        .from_ns = bin == 0 ? 0 : end_of(bin - 1),
                        .to_ns = end_of(bin),
                        .count = count});
  }
  return stored_table(std::move(rows), texts);
}

}  // namespace tare::reader

// The tables of stack samples.
#include <set>

#include "reader/events/row_table.h"
#include "reader/store/stack_samples.h"

namespace tare::reader {
namespace {

const char* name_of(format::SampledIn in) {
  switch (in) {
    case format::SampledIn::program:
      return "program";
    case format::SampledIn::call:
      return "call";
    case format::SampledIn::tare:
      return "tare";
  }
  return "unknown";
}

// Calls visit(process, samples) for each process of which stacks were sampled.
template <class Visit>
void each_process(Run& run, Visit visit) {
  for (const Process& process : run.processes())
    if (process.stacks.is_there()) visit(process, read_stack_samples(process.stacks));
}

}  // namespace

Result<TableStream> stack_sample_table(Run& run) {
  RunTexts texts(run, SiteTexts::paths);
  std::vector<rows::StackSamples> rows;
  each_process(run, [&](const Process& process, const StackSamples& samples) {
    for (const format::SampledStack& stack : samples.stacks) {
      const std::int32_t site = process.sites.find(stack.site);
      rows.push_back({.world_rank = {process.world, process.record.rank},
                      .pid = static_cast<std::int64_t>(process.record.pid),
                      .thread = static_cast<std::int32_t>(stack.thread),
                      .thread_name = texts.thread_name(process, stack.thread),
                      .activity = texts.of("activity").number_of(name_of(stack.in)),
                      .site = if_known(site),
                      .place = texts.place(site),
                      .path = texts.path(site),
                      .samples = static_cast<std::int64_t>(stack.samples),
                      .time_ns = as_int64(stack.ns)});
    }
  });
  return stored_table(std::move(rows), texts);
}

Result<TableStream> stack_frame_table(Run& run) {
  RunTexts texts(run, SiteTexts::none);
  std::set<std::int32_t> sampled;
  each_process(run, [&](const Process& process, const StackSamples& samples) {
    for (const format::SampledStack& stack : samples.stacks)
      if (const std::int32_t site = process.sites.find(stack.site); site >= 0) sampled.insert(site);
  });
  std::vector<rows::StackFrames> rows;
  for (const std::int32_t site : sampled) {
    const SiteInfo& info = run.sites()[static_cast<std::size_t>(site)];
    for (std::size_t i = 0; i < info.path.size(); ++i) {
      const FrameInfo& frame = run.frames()[static_cast<std::size_t>(info.path[i])];
      const bool has_line = frame.symbol.line != 0;
      rows.push_back({.site = site,
                      .frame = static_cast<std::int32_t>(i),
                      .function = number_unless_empty(texts.of("function"), frame.symbol.caller),
                      .file = number_unless_empty(texts.of("file"), frame.symbol.file),
                      .line = has_line ? std::optional(static_cast<std::int32_t>(frame.symbol.line)) : std::nullopt,
                      .object = number_unless_empty(texts.of("object"), frame.at.object),
                      .offset = static_cast<std::int64_t>(frame.at.address),
                      .in_program = frame.of_program,
                      .is_cut = (info.flags & format::path_cut) != 0});
    }
  }
  return stored_table(std::move(rows), texts);
}

Result<TableStream> stack_sampling_table(Run& run) {
  const RunTexts texts(run, SiteTexts::none);
  std::vector<rows::StackSampling> rows;
  each_process(run, [&](const Process& process, const StackSamples& samples) {
    const format::StackSamples& head = samples.head;
    rows.push_back({.world_rank = {process.world, process.record.rank},
                    .interval_ns = as_int64(head.interval_ns),
                    .samples = as_int64(head.samples),
                    .missed_ns = as_int64(head.missed_ns),
                    .cut = as_int64(head.cut),
                    .lost = as_int64(head.lost),
                    .unsampled_threads = static_cast<std::int32_t>(head.unsampled_threads),
                    .cost_ns = process.clock.duration_ns(head.ticks)});
  });
  return stored_table(std::move(rows), texts);
}

}  // namespace tare::reader

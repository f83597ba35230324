// The tables of processes and locations.
#include <algorithm>
#include <map>
#include <utility>

#include "reader/events/row_table.h"
#include "reader/model/account.h"
#include "reader/waits/scheduled_times.h"

namespace tare::reader {

Result<TableStream> rank_table(Run& run) {
  RunTexts texts(run, SiteTexts::none);
  std::vector<rows::Ranks> rows;
  for (std::size_t i = 0; i < run.processes().size(); ++i) {
    const Process& process = run.processes()[i];
    const format::ProcessRecord& record = process.record;
    const Totals& totals = run.totals(i);
    const Account account = account_of(process, totals);
    const std::int32_t signal = format::signal_of(record);
    const format::SchedulingSums& scheduling = totals.scheduling;
    const auto if_read = [&](std::uint64_t value) {
      return scheduling.readings != 0 ? std::optional(as_int64(value)) : std::nullopt;
    };
    const auto if_observed = [&](std::int64_t ns) {
      return scheduling.observed_ns != 0 ? std::optional(ns) : std::nullopt;
    };
    const std::string processors = allowed_processors(scheduling).text();
    rows.push_back({.world = process.world,
                    .rank = record.rank,
                    .host = texts.of("host").number_of(record.host),
                    .pid = static_cast<std::int64_t>(record.pid),
                    .state = texts.of("state").number_of(name_of(process.state)),
                    .exit_code = if_known(record.exit_code),
                    .signal = signal != 0 ? std::optional(signal) : std::nullopt,
                    .threads = static_cast<std::int32_t>(record.threads),
                    .executable = texts.of("executable").number_of(process.executable()),
                    .mpi = texts.of("mpi").number_of(mpi_library_of(record)),
                    .start_ns = account.start_ns,
                    .wall_ns = account.wall_ns,
                    .net_ns = account.net_ns,
                    .mpi_ns = account.mpi_ns,
                    .mpi_share = mpi_share(account),
                    .calls = as_int64(totals.calls + totals.counted),
                    .counted = as_int64(totals.counted),
                    .records = as_int64(totals.records),
                    .dropped = as_int64(totals.dropped),
                    .cost_share = account.net_share,
                    .descheduled_ns = if_observed(off_times(scheduling.all).descheduled_ns),
                    .descheduled_outside_ns = if_observed(off_times(scheduling.outside).descheduled_ns),
                    .blocked_outside_ns = if_observed(off_times(scheduling.outside).blocked_ns),
                    .switches = if_read(scheduling.switches),
                    .preemptions = if_read(scheduling.preemptions),
                    .page_faults = if_read(scheduling.page_faults),
                    .major_page_faults = if_read(scheduling.major_page_faults),
                    .processors = processors.empty() ? Text{} : texts.of("processors").number_of(processors)});
  }
  return stored_table(std::move(rows), texts);
}

Result<TableStream> missing_table(Run& run) {
  RunTexts texts(run, SiteTexts::none);
  std::vector<rows::Missing> rows;
  for (const MissingRanks& each : run.missing())
    rows.push_back({.world = each.world,
                    .first_rank = each.first,
                    .last_rank = each.last,
                    .size = each.size,
                    .host = each.host.empty() ? Text{} : texts.of("host").number_of(each.host)});
  return stored_table(std::move(rows), texts);
}

Result<TableStream> scheduling_table(Run& run) {
  const RunTexts texts(run, SiteTexts::none);
  std::vector<rows::Scheduling> rows;
  const ScheduledTimes times(run);
  for (const auto& [of, spans] : times.spans()) {
    const Process& process = run.processes()[of.first];
    for (const ScheduledTimes::Span& span : spans)
      rows.push_back({.world_rank = {process.world, process.record.rank},
                      .pid = process.record.pid,
                      .thread = static_cast<std::int32_t>(of.second),
                      .start_ns = span.begin_ns,
                      .end_ns = span.end_ns,
                      .descheduled_outside_ns = span.outside.descheduled_ns,
                      .blocked_outside_ns = span.outside.blocked_ns,
                      .descheduled_in_calls_ns = span.in_calls.descheduled_ns,
                      .blocked_in_calls_ns = span.in_calls.blocked_ns});
  }
  return stored_table(std::move(rows), texts);
}

Result<TableStream> location_table(Run& run) {
  const RunTexts texts(run, SiteTexts::none);
  std::vector<rows::Locations> rows;
  for (const Location& location : run.locations()) {
    const Process& process = run.processes()[location.process];
    const Totals& totals = location.totals;
    rows.push_back({.world_rank = {process.world, process.record.rank},
                    .pid = process.record.pid,
                    .location = static_cast<std::int32_t>(location.block),
                    .thread = static_cast<std::int32_t>(location.thread),
                    .thread_name = texts.thread_name(process, location.thread),
                    .calls = as_int64(totals.calls + totals.counted),
                    .counted = as_int64(totals.counted),
                    .records = as_int64(totals.records),
                    .bytes = as_int64(totals.stored_bytes),
                    .dropped = as_int64(totals.dropped),
                    .flushes = as_int64(totals.flushes),
                    .flush_ns = process.clock.duration_ns(totals.flush_ticks),
                    .flush_bytes = as_int64(totals.flush_bytes),
                    .drains = as_int64(totals.tared.drains),
                    .drain_ns = process.clock.duration_ns(totals.tared.ticks),
                    .drain_bytes = as_int64(totals.tared.bytes)});
  }
  return stored_table(std::move(rows), texts);
}

Result<TableStream> region_table(Run& run) {
  const RunTexts texts(run, SiteTexts::lines);
  // The regions of a process, by their numbers there: how many there were, and their time.
  std::map<std::pair<std::size_t, std::uint32_t>, RegionPart> all;
  for (const Location& location : run.locations())
    for (const RegionPart& part : location.regions) {
      RegionPart& of = all[{location.process, part.number}];
      of.site = std::max(of.site, part.site);
      of.regions += part.regions;
      of.region_ticks += part.region_ticks;
    }
  std::vector<rows::Regions> rows;
  for (const Location& location : run.locations()) {
    const Process& process = run.processes()[location.process];
    for (const RegionPart& part : location.regions) {
      const RegionPart& of = all.at({location.process, part.number});
      const double mean = of.regions == 0 ? 0 : static_cast<double>(of.region_ticks) / static_cast<double>(of.regions);
      const std::int32_t site = process.sites.find(of.site);
      const auto ns = [&](std::uint64_t ticks) { return process.clock.duration_ns(ticks); };
      // Tasks run in waits, and in the barrier that ends the region.
      const std::uint64_t ran = part.part_ticks + part.task_ticks;
      const std::uint64_t work_ticks = ran - std::min(ran, part.wait_ticks);
      const auto team_ticks = static_cast<std::uint64_t>(mean * static_cast<double>(part.parts));
      const std::int64_t team_ns = ns(std::max(team_ticks, work_ticks)), work_ns = ns(work_ticks);
      rows.push_back({.world_rank = {process.world, process.record.rank},
                      .pid = static_cast<std::int64_t>(process.record.pid),
                      .start_ns = process.clock.unix_ns(begin_ticks(process)),
                      .thread = static_cast<std::int32_t>(location.thread),
                      .site = {if_known(site)},
                      .place = texts.place(site),
                      .regions = as_int64(part.regions),
                      .regions_ns = ns(part.region_ticks),
                      .calls = as_int64(part.parts),
                      .team_ns = team_ns,
                      .work_ns = work_ns,
                      .idle_ns = team_ns - work_ns,
                      .wait_ns = ns(part.wait_ticks)});
    }
  }
  return stored_table(std::move(rows), texts);
}

}  // namespace tare::reader

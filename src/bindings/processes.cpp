#include "bindings/processes.h"

#include <cmath>
#include <map>
#include <optional>

#include "bindings/convert.h"
#include "reader/model/total_cost.h"

namespace tare::bindings {
namespace {

// The moment at which the times of a process end (docs/json.md).
const char* until_of(const reader::Process& process) {
  const format::ProcessRecord& record = process.record;
  if (process.state == reader::State::running) return "now";
  if ((record.flags & format::end_seen) != 0) return "end";
  if ((record.flags & format::ended_with_command) != 0) return "command";
  const bool told = record.state == format::ProcessState::exited || record.state == format::ProcessState::aborted;
  return told ? "exit" : "last_seen";
}

const char* name_of(format::Abi abi) {
  switch (abi) {
    case format::Abi::mpich:
      return "mpich";
    case format::Abi::openmpi:
      return "openmpi";
    case format::Abi::standard:
      return "standard";
    case format::Abi::none:
      break;
  }
  return "none";
}

nb::dict cost_dict(const reader::Process& process, const reader::Totals& totals, const reader::Account& account) {
  const format::ProcessRecord& record = process.record;
  nb::dict cost;
  cost["call_ns"] = account.call_ns;
  cost["timed_call_ns"] = account.timed_call_ns;
  cost["lookup_ns"] = record.lookup_cost_ps / 1000.0;
  cost["event_ns"] = record.event_cost_ps / 1000.0;
  cost["events"] = totals.api_events;
  cost["wrapper_ns"] = account.wrapper_ns;
  cost["wrapper_error_ns"] =
      std::isnan(account.wrapper_error_ns) ? nb::object(nb::none()) : nb::cast(account.wrapper_error_ns);
  cost["weighed"] = account.weighed;
  cost["hook_init_ns"] = account.hook_init_ns;
  cost["hook_finalize_ns"] = account.hook_finalize_ns;
  cost["flushes"] = totals.flushes;
  cost["flush_ns"] = account.flush_ns;
  cost["flush_bytes"] = totals.flush_bytes;
  cost["drains"] = totals.tared.drains;
  cost["drain_ns"] = account.drain_ns;
  cost["drain_bytes"] = totals.tared.bytes;
  cost["offload_points"] = process.offloads.points;
  cost["offloads"] = process.offloads.offloads;
  cost["offloads_lost"] = process.offloads.lost;
  cost["offload_ns"] = account.offload_ns;
  cost["offload_max_ns"] = account.offload_max_ns;
  cost["offload_wait_ns"] = account.offload_wait_ns;
  cost["dropped"] = totals.dropped;
  cost["net_share"] = account.net_share;
  return cost;
}

nb::object policy_of(const format::ProcessRecord& record) {
  if ((record.flags & format::traced) == 0) return nb::none();
  return text((record.flags & format::drops) != 0        ? "drop"
              : (record.flags & format::overwrites) != 0 ? "overwrite"
                                                         : "block");
}

// Texts that many processes have in common become one object.
class SharedTexts {
 public:
  nb::object operator()(std::string_view bytes) {
    const auto found = texts_.find(bytes);
    return found != texts_.end() ? found->second : texts_.emplace(bytes, text(bytes)).first->second;
  }

 private:
  std::map<std::string, nb::object, std::less<>> texts_;
};

// What was left out or made smaller because there was no memory for all of it.
nb::list reduced(const format::ProcessRecord& record, const reader::Totals& totals) {
  nb::list names;
  if ((record.flags & format::small_buffer) != 0) names.append("buffer");
  if ((record.flags & format::no_buffer) != 0) names.append("events");
  if ((totals.full & format::without_buffer) != 0) names.append("events of threads");
  if ((record.flags & format::small_profile) != 0) names.append("profile");
  return names;
}

nb::dict process_dict(const reader::Process& process, const reader::Totals& totals, SharedTexts& shared) {
  const format::ProcessRecord& record = process.record;
  const reader::Account account = reader::account_of(process, totals);
  nb::dict trace;
  trace["events"] = totals.events;
  trace["bytes"] = totals.stored_bytes;
  trace["dropped"] = totals.dropped;
  trace["overwritten_bytes"] = totals.overwritten_bytes;
  trace["policy"] = policy_of(record);
  trace["kept_newest"] = (totals.full & format::kept_newest) != 0;
  trace["no_space"] = (totals.full & format::no_space) != 0;
  trace["written"] = (record.flags & format::not_written) == 0;
  nb::dict row;
  row["world"] = process.world;
  row["rank"] = record.rank;
  row["size"] = record.size;
  row["host"] = shared(record.host);
  row["pid"] = record.pid;
  row["threads"] = record.threads;
  nb::list names;
  for (const auto& [number, name] : process.thread_names) {
    nb::dict named;
    named["thread"] = number;
    named["name"] = escaped_text(name);
    names.append(named);
  }
  row["thread_names"] = names;
  row["unmeasured_threads"] = record.unmeasured_threads;
  row["reduced"] = reduced(record, totals);
  row["left_calls"] = record.left_calls;
  row["state"] = reader::name_of(process.state);
  row["exit_code"] = nb::none();
  if (record.exit_code >= 0) row["exit_code"] = record.exit_code;
  row["signal"] = nb::none();
  if (const std::int32_t signal = format::signal_of(record); signal != 0) row["signal"] = signal;
  row["finalized"] = record.finalize_leave != 0;
  row["stopped"] = process.stopped;
  row["executable"] = shared(process.executable());
  row["mpi"] = shared(reader::mpi_library_of(record));
  row["abi"] = name_of(record.abi);
  row["start_ns"] = account.start_ns;
  row["wall_ns"] = account.wall_ns;
  row["net_ns"] = account.net_ns;
  row["threads_ns"] = account.threads_ns;
  row["mpi_ns"] = account.mpi_ns;
  row["unreturned_ns"] = account.unreturned_ns;
  row["until"] = until_of(process);
  row["calls"] = totals.calls + totals.counted;
  row["counted"] = totals.counted;
  row["cost"] = cost_dict(process, totals, account);
  row["trace"] = trace;
  return row;
}

}  // namespace

nb::list process_rows(reader::Run& run) {
  const std::size_t count = run.processes().size();
  if (count > 0) {
    const nb::gil_scoped_release unlocked;
    run.totals(0);
  }
  nb::list rows;
  SharedTexts shared;
  for (std::size_t i = 0; i < count; ++i) rows.append(process_dict(run.processes()[i], run.totals(i), shared));
  return rows;
}

namespace {

// For all processes, or for the ranks of a world.
reader::CostSums cost_sums(reader::Run& run, std::optional<int> world) {
  const nb::gil_scoped_release unlocked;
  reader::CostSums sums;
  for (std::size_t i = 0; i < run.processes().size(); ++i) {
    const reader::Process& process = run.processes()[i];
    if (!world || (process.world == *world && process.record.rank >= 0)) sums.add(process, run.totals(i));
  }
  return sums;
}

}  // namespace

nb::dict total_cost(reader::Run& run, std::optional<int> world) {
  const reader::TotalCost sums = cost_sums(run, world).cost();
  nb::dict cost;
  cost["calls"] = sums.calls + sums.counted;
  cost["counted"] = sums.counted;
  cost["call_ns"] = sums.call_ns;
  cost["timed_call_ns"] = sums.timed_call_ns;
  cost["lookup_ns"] = sums.lookup_ns;
  cost["event_ns"] = sums.event_ns;
  cost["events"] = sums.events;
  cost["wrapper_ns"] = sums.wrapper_ns;
  cost["wrapper_error_ns"] = sums.wrapper_error_ns ? nb::cast(*sums.wrapper_error_ns) : nb::object(nb::none());
  cost["weighed"] = sums.weighed;
  cost["net_share"] = sums.net_share;
  cost["wall_share"] = sums.wall_share;
  cost["hook_init_ns"] = sums.hook_init_ns;
  cost["hook_finalize_ns"] = sums.hook_finalize_ns;
  cost["flushes"] = sums.flushes;
  cost["flush_ns"] = sums.flush_ns;
  cost["flush_bytes"] = sums.flush_bytes;
  cost["drains"] = sums.drains;
  cost["drain_ns"] = sums.drain_ns;
  cost["drain_bytes"] = sums.drain_bytes;
  cost["offload_points"] = sums.offload_points;
  cost["offloads"] = sums.offloads;
  cost["offloads_lost"] = sums.offloads_lost;
  cost["offload_ns"] = sums.offload_ns;
  cost["offload_max_ns"] = sums.offload_max_ns;
  cost["offload_wait_ns"] = sums.offload_wait_ns;
  cost["dropped"] = sums.dropped;
  return cost;
}

nb::dict total_trace(reader::Run& run, std::optional<int> world) {
  const reader::TotalTrace sums = cost_sums(run, world).trace();
  nb::dict trace;
  trace["events"] = sums.events;
  trace["bytes"] = sums.bytes;
  trace["dropped"] = sums.dropped;
  trace["overwritten_bytes"] = sums.overwritten_bytes;
  trace["policy"] = sums.first == nullptr ? nb::object(nb::none()) : policy_of(*sums.first);
  trace["kept_newest"] = sums.kept_newest;
  trace["no_space"] = sums.no_space;
  trace["written"] = sums.written;
  return trace;
}

nb::list spell_rows(reader::Run& run) {
  nb::list rows;
  for (const reader::Process& process : run.processes()) {
    for (const auto& [number, spell] : process.spells) {
      if (!spell.finished) continue;
      nb::dict row;
      row["world"] = process.world;
      row["rank"] = process.record.rank;
      row["spell"] = number;
      row["measured"] = spell.measured;
      row["traced"] = spell.traced;
      row["cut"] = spell.cut;
      row["control"] = spell.control;
      row["has_requests"] = spell.has_requests;
      row["sync_points"] = spell.sync_points;
      row["first_site"] = process.sites.find(spell.first_site);
      row["last_site"] = process.sites.find(spell.last_site);
      row["begin_ns"] = process.clock.unix_ns(spell.begin);
      row["ns"] = process.clock.duration_ns(spell.ticks);
      row["flush_ns"] = process.clock.duration_ns(spell.flush_ticks);
      row["measured_calls"] = spell.measured_calls;
      row["counted_calls"] = spell.counted_calls;
      row["counted_polls"] = spell.counted_polls;
      rows.append(row);
    }
  }
  return rows;
}

}  // namespace tare::bindings

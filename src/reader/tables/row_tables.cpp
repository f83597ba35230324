#include "reader/tables/row_tables.h"

#include <algorithm>

#include "reader/events/row_table.h"
#include "reader/profile/function_totals.h"
#include "reader/retiming/clock_correction.h"

namespace tare::reader {
namespace {

// Columns that depend on the keys of the query.
template <class Row>
std::vector<DeclaredColumn> columns_for(const TablesQuery& query,
                                        std::initializer_list<std::string_view> of_communicators,
                                        std::initializer_list<std::string_view> over_ranks) {
  std::vector<std::string_view> names{"world"};
  if (query.rank) names.push_back("rank");
  if (query.communicator) names.insert(names.end(), of_communicators);
  for (const DeclaredColumn& column : Row::columns())
    if (!column.extra && std::string_view(column.name) != "world" && std::string_view(column.name) != "rank")
      names.emplace_back(column.name);
  if (!query.rank) names.insert(names.end(), over_ranks);
  return columns_named(Row::columns(), names);
}

}  // namespace

Result<TableStream> communicator_table(Run& run) {
  const RunTexts texts(run, SiteTexts::none);
  std::vector<rows::Communicators> rows;
  for (const CommunicatorInfo& each : run.communicators())
    rows.push_back({.communicator = texts.communicator(static_cast<std::int32_t>(rows.size())),
                    .world = each.world,
                    .size = each.size,
                    .inter = each.inter});
  return stored_table(std::move(rows), texts);
}

Result<TableStream> peer_table(Run& run, const TablesQuery& query) {
  const RunTexts texts(run, SiteTexts::none);
  std::vector<rows::Peers> rows;
  for (const PeerSum& sum : run.peers(query)) {
    const bool is_known = sum.communicator >= 0;
    rows.push_back({.world_rank = {sum.world, sum.rank},
                    .peer = if_known(sum.peer),
                    .sent_messages = as_int64(sum.sent_messages),
                    .sent_bytes = saturated(sum.sent_bytes),
                    .received_messages = as_int64(sum.received_messages),
                    .received_bytes = saturated(sum.received_bytes),
                    .communicator = texts.communicator(sum.communicator).communicator,
                    .communicator_size =
                        is_known ? std::optional(run.communicators()[static_cast<std::size_t>(sum.communicator)].size)
                                 : std::nullopt,
                    .ranks = as_int64(sum.ranks)});
  }
  return stored_table(std::move(rows), texts,
                      columns_for<rows::Peers>(query, {"communicator", "communicator_size"}, {"ranks"}));
}

Result<TableStream> peer_table(Run& run) { return peer_table(run, {.rank = true}); }

Result<TableStream> phase_table(Run& run, const TablesQuery& query) {
  RunTexts texts(run, SiteTexts::none);
  const auto share = [](std::int64_t part, auto whole) {
    return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0.0;
  };
  const bool has_all_calls = std::none_of(run.processes().begin(), run.processes().end(), counts_some_of_the_time);
  std::vector<rows::Phases> rows;
  for (const PhaseSum& sum : run.phases(query)) {
    Text name;
    if (sum.type >= 0) name = texts.of("phase").number_of(run.event_types()[static_cast<std::size_t>(sum.type)].name);
    if (sum.type < 0 && !sum.outside) name = texts.of("phase").number_of("other");  // phases without room
    rows.push_back({.world_rank = {sum.world, sum.rank},
                    .phase = name,
                    .entries = as_int64(sum.entries),
                    .time_ns = sum.time_ns,
                    .calls_ns = sum.mpi_ns,
                    .calls_share = has_all_calls ? std::optional(share(sum.mpi_ns, sum.time_ns)) : std::nullopt,
                    .timed_calls = as_int64(sum.calls),
                    .bytes = saturated(sum.bytes),
                    .ranks = as_int64(sum.ranks),
                    .rank_mean_ns = share(sum.time_ns, sum.ranks),
                    .rank_min_ns = sum.rank_min_ns,
                    .rank_max_ns = sum.rank_max_ns,
                    .rank_max = sum.longest});
  }
  return stored_table(
      std::move(rows), texts,
      columns_for<rows::Phases>(query, {}, {"ranks", "rank_mean_ns", "rank_min_ns", "rank_max_ns", "rank_max"}));
}

Result<TableStream> phase_table(Run& run) { return phase_table(run, {.rank = true}); }

Result<TableStream> total_table(Run& run) {
  const RunTexts texts(run, SiteTexts::none);
  std::vector<rows::Totals> rows;
  for (const FunctionTotal& total : function_totals(run.processes(), run.profile_sums(by_rank_and_function)))
    rows.push_back({.world_rank = {total.world, total.rank},
                    .pid = run.processes()[static_cast<std::size_t>(total.process)].record.pid,
                    .function = texts.function(total.function),
                    .calls = as_int64(total.calls),
                    .measured_calls = as_int64(total.measured_calls),
                    .total = total_of(total)});
  return stored_table(std::move(rows), texts);
}

// Shows times as recorded, also if the times of the run were moved. Reads the trace.
Result<TableStream> clock_violation_table(Run& run) {
  std::vector<std::shared_ptr<const TimeMaps>> moved;
  for (const Process& process : run.processes()) moved.push_back(process.moved);
  run.move_times({});
  const auto found = clock_violations(run);
  run.move_times(std::move(moved));
  if (!found) return found.failure();
  std::vector<rows::ClockViolations> rows;
  for (const Violations& each : *found)
    rows.push_back({.world = each.world,
                    .rank = each.rank,
                    .other_rank = each.other_rank,
                    .messages = as_int64(each.messages),
                    .collectives = as_int64(each.collectives),
                    .most_ns = each.most_ns});
  return stored_table(std::move(rows), RunTexts(run, SiteTexts::none));
}

}  // namespace tare::reader

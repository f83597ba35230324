#include "reader/tables/process_tables.h"

#include <string_view>

#include "reader/tables/stored_rows.h"

namespace tare::reader {
namespace {

using namespace row_columns;

std::int64_t as_int64(std::uint64_t number) { return static_cast<std::int64_t>(number); }

struct RankRow {
  const Process* process;
  const Totals* totals;
  Account account;
  std::int32_t host, state, executable, mpi;  // indices in dictionaries
};

struct LocationRow {
  const Process* process;
  const Location* location;
  std::int32_t thread_name;
};

}  // namespace

Result<TableStream> rank_table(Run& run) {
  using Row = RankRow;
  arrow::Dictionary hosts, states, executables, libraries;
  std::vector<Row> rows;
  rows.reserve(run.processes().size());
  for (std::size_t i = 0; i < run.processes().size(); ++i) {
    const Process& process = run.processes()[i];
    const Totals& totals = run.totals(i);
    rows.push_back({&process, &totals, account_of(process, totals), hosts.number_of(process.record.host),
                    states.number_of(name_of(process.state)), executables.number_of(process.executable()),
                    libraries.number_of(mpi_library_of(process.record))});
  }
  std::vector<RowColumn<Row>> columns{
      int32<Row>("world", [](const Row& row) { return row.process->world; }),
      int32<Row>("rank", [](const Row& row) { return row.process->record.rank; }),
      text_column("host", hosts, &Row::host),
      int64<Row>("pid", [](const Row& row) { return static_cast<std::int64_t>(row.process->record.pid); }),
      text_column("state", states, &Row::state),
      index<Row>("exit_code", [](const Row& row) { return row.process->record.exit_code; }),
      int32<Row>("signal",
                 [](const Row& row) {
                   const std::int32_t signal = format::signal_of(row.process->record);
                   return signal != 0 ? signal : absent;
                 }),
      int32<Row>("threads", [](const Row& row) { return static_cast<std::int32_t>(row.process->record.threads); }),
      text_column("executable", executables, &Row::executable),
      text_column("mpi", libraries, &Row::mpi),
      int64<Row>("start_ns", [](const Row& row) { return row.account.start_ns; }),
      int64<Row>("wall_ns", [](const Row& row) { return row.account.wall_ns; }),
      int64<Row>("net_ns", [](const Row& row) { return row.account.net_ns; }),
      int64<Row>("mpi_ns", [](const Row& row) { return row.account.mpi_ns; }),
      float64<Row>("mpi_share", [](const Row& row) { return mpi_share(row.account); }),
      int64<Row>("calls", [](const Row& row) { return as_int64(row.totals->calls + row.totals->counted); }),
      int64<Row>("counted", [](const Row& row) { return as_int64(row.totals->counted); }),
      int64<Row>("events", [](const Row& row) { return as_int64(row.totals->events); }),
      int64<Row>("dropped", [](const Row& row) { return as_int64(row.totals->dropped); }),
      float64<Row>("cost_share", [](const Row& row) { return row.account.net_share; })};
  return stream_of(std::move(columns), std::move(rows));
}

Result<TableStream> location_table(Run& run) {
  using Row = LocationRow;
  arrow::Dictionary names;
  std::vector<Row> rows;
  for (const Location& location : run.locations()) {
    const Process& process = run.processes()[location.process];
    const auto named = process.thread_names.find(location.thread);
    rows.push_back(
        {&process, &location, named == process.thread_names.end() ? absent : names.number_of(named->second)});
  }
  const auto count = [](const char* name, auto of) {
    return int64<Row>(name, [of](const Row& row) { return as_int64(of(row.location->totals)); });
  };
  const auto time = [](const char* name, auto of) {
    return int64<Row>(name, [of](const Row& row) { return row.process->clock.duration_ns(of(row.location->totals)); });
  };
  std::vector<RowColumn<Row>> columns{
      int32<Row>("world", [](const Row& row) { return row.process->world; }),
      int32<Row>("rank", [](const Row& row) { return row.process->record.rank; }),
      int32<Row>("location", [](const Row& row) { return static_cast<std::int32_t>(row.location->block); }),
      int32<Row>("thread", [](const Row& row) { return static_cast<std::int32_t>(row.location->thread); }),
      text_column("thread_name", names, &Row::thread_name),
      count("calls", [](const Totals& of) { return of.calls + of.counted; }),
      count("counted", [](const Totals& of) { return of.counted; }),
      count("events", [](const Totals& of) { return of.events; }),
      count("bytes", [](const Totals& of) { return of.stored_bytes; }),
      count("dropped", [](const Totals& of) { return of.dropped; }),
      count("flushes", [](const Totals& of) { return of.flushes; }),
      time("flush_ns", [](const Totals& of) { return of.flush_ticks; }),
      count("flush_bytes", [](const Totals& of) { return of.flush_bytes; }),
      count("drains", [](const Totals& of) { return of.tared.drains; }),
      time("drain_ns", [](const Totals& of) { return of.tared.ticks; }),
      count("drain_bytes", [](const Totals& of) { return of.tared.bytes; })};
  return stream_of(std::move(columns), std::move(rows));
}

}  // namespace tare::reader

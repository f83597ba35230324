#include "reader/tables/row_tables.h"

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "reader/events/event_table_schema.h"
#include "reader/profile/function_totals.h"
#include "reader/retiming/clock_correction.h"
#include "reader/tables/profile_rows.h"
#include "reader/tables/stored_rows.h"

namespace tare::reader {
namespace {

using namespace row_columns;

std::int64_t as_int64(std::uint64_t number) { return static_cast<std::int64_t>(number); }

struct CommunicatorRow {
  const CommunicatorInfo* communicator;
  std::int32_t name, key;  // indices in dictionaries
};

// The rounded number; INT64_MIN, which tables show as null, if there is none.
std::int64_t rounded(std::optional<double> number) {
  return number ? static_cast<std::int64_t>(std::llround(*number)) : INT64_MIN;
}

struct TotalRow {
  FunctionTotal total;
  std::int32_t function;
};

struct PeerRow {
  PeerSum sum;
  std::int32_t communicator = absent, communicator_size = absent;
};

struct PhaseRow {
  PhaseSum sum;
  std::int32_t name;
};

}  // namespace

Result<TableStream> communicator_table(Run& run) {
  using Row = CommunicatorRow;
  arrow::Dictionary names, keys;
  const std::vector<std::string> known = communicator_names(run);
  std::vector<Row> rows;
  for (const CommunicatorInfo& each : run.communicators()) {
    rows.push_back({&each, names.number_of(known[rows.size()]), key_number(keys, each.key)});
  }
  std::vector<RowColumn<Row>> columns{text_column("communicator", names, &Row::name),
                                      text_column("communicator_key", keys, &Row::key),
                                      int32<Row>("world", [](const Row& row) { return row.communicator->world; }),
                                      int32<Row>("size", [](const Row& row) { return row.communicator->size; }),
                                      boolean<Row>("inter", [](const Row& row) { return row.communicator->inter; })};
  return stream_of(std::move(columns), std::move(rows));
}

Result<TableStream> peer_table(Run& run, const TablesQuery& query) {
  using Row = PeerRow;
  arrow::Dictionary names;
  const std::vector<std::string> known = communicator_names(run);
  std::vector<Row> rows;
  for (const PeerSum& sum : run.peers(query)) {
    Row& row = rows.emplace_back(Row{sum});
    if (sum.communicator < 0) continue;
    const auto number = static_cast<std::size_t>(sum.communicator);
    row.communicator = names.number_of(known[number]);
    row.communicator_size = run.communicators()[number].size;
  }
  const auto count = [](const char* name, std::uint64_t PeerSum::*of) {
    return int64<Row>(name, [of](const Row& row) { return as_int64(row.sum.*of); });
  };
  std::vector<RowColumn<Row>> columns{int32<Row>("world", [](const Row& row) { return row.sum.world; })};
  if (query.rank) columns.push_back(int32<Row>("rank", [](const Row& row) { return row.sum.rank; }));
  if (query.communicator) {
    columns.push_back(text_column("communicator", names, &Row::communicator));
    columns.push_back(int32<Row>("communicator_size", [](const Row& row) { return row.communicator_size; }));
  }
  columns.push_back(index<Row>("peer", [](const Row& row) { return row.sum.peer; }));
  columns.push_back(count("sent_messages", &PeerSum::sent_messages));
  columns.push_back(count("sent_bytes", &PeerSum::sent_bytes));
  columns.push_back(count("received_messages", &PeerSum::received_messages));
  columns.push_back(count("received_bytes", &PeerSum::received_bytes));
  if (!query.rank) columns.push_back(count("ranks", &PeerSum::ranks));
  return stream_of(std::move(columns), std::move(rows));
}

Result<TableStream> peer_table(Run& run) { return peer_table(run, {.rank = true}); }

Result<TableStream> phase_table(Run& run, const TablesQuery& query) {
  using Row = PhaseRow;
  arrow::Dictionary names;
  std::vector<Row> rows;
  for (const PhaseSum& sum : run.phases(query)) {
    std::int32_t name = absent;
    if (sum.type >= 0) name = names.number_of(run.event_types()[static_cast<std::size_t>(sum.type)].name);
    if (sum.type < 0 && !sum.outside) name = names.number_of("other");  // phases for which there was no room
    rows.push_back({sum, name});
  }
  const auto time = [](const char* name, std::int64_t PhaseSum::*of) {
    return int64<Row>(name, [of](const Row& row) { return row.sum.*of; });
  };
  const auto count = [](const char* name, std::uint64_t PhaseSum::*of) {
    return int64<Row>(name, [of](const Row& row) { return as_int64(row.sum.*of); });
  };
  std::vector<RowColumn<Row>> columns{int32<Row>("world", [](const Row& row) { return row.sum.world; })};
  if (query.rank) columns.push_back(int32<Row>("rank", [](const Row& row) { return row.sum.rank; }));
  columns.push_back(text_column("phase", names, &Row::name));
  columns.push_back(count("entries", &PhaseSum::entries));
  columns.push_back(time("time_ns", &PhaseSum::time_ns));
  columns.push_back(time("mpi_ns", &PhaseSum::mpi_ns));
  columns.push_back(float64<Row>("mpi_share", [](const Row& row) {
    return row.sum.time_ns > 0 ? static_cast<double>(row.sum.mpi_ns) / static_cast<double>(row.sum.time_ns) : 0.0;
  }));
  columns.push_back(count("calls", &PhaseSum::calls));
  columns.push_back(count("bytes", &PhaseSum::bytes));
  if (!query.rank) {
    columns.push_back(count("ranks", &PhaseSum::ranks));
    columns.push_back(float64<Row>("rank_mean_ns", [](const Row& row) {
      return row.sum.ranks > 0 ? static_cast<double>(row.sum.time_ns) / static_cast<double>(row.sum.ranks) : 0.0;
    }));
    columns.push_back(time("rank_min_ns", &PhaseSum::rank_min_ns));
    columns.push_back(time("rank_max_ns", &PhaseSum::rank_max_ns));
    columns.push_back(int32<Row>("rank_max", [](const Row& row) { return row.sum.longest; }));
  }
  return stream_of(std::move(columns), std::move(rows));
}

Result<TableStream> phase_table(Run& run) { return phase_table(run, {.rank = true}); }

Result<TableStream> total_table(Run& run) {
  using Row = TotalRow;
  arrow::Dictionary functions;
  std::vector<Row> rows;
  for (FunctionTotal& total : function_totals(run.processes(), run.profile_sums(by_rank_and_function))) {
    const std::int32_t function = functions.number_of(run.functions().names()[total.function]);
    rows.push_back({total, function});
  }
  // The time is not known if no call of the function was timed.
  const auto time = [](const Row& row) {
    return row.total.measured_calls == 0 ? INT64_MIN : rounded(row.total.time_ns);
  };
  std::vector<RowColumn<Row>> columns{
      int32<Row>("world", [](const Row& row) { return row.total.world; }),
      int32<Row>("rank", [](const Row& row) { return row.total.rank; }),
      text_column("function", functions, &Row::function),
      int64<Row>("calls", [](const Row& row) { return as_int64(row.total.calls); }),
      int64<Row>("measured_calls", [](const Row& row) { return as_int64(row.total.measured_calls); }),
      int64<Row>("time_ns", time),
      int64<Row>("time_error_ns", [](const Row& row) { return rounded(row.total.time_error_ns); }),
      int64<Row>("bytes", [](const Row& row) { return rounded(row.total.bytes); }),
      int64<Row>("bytes_error", [](const Row& row) { return rounded(row.total.bytes_error); })};
  return stream_of(std::move(columns), std::move(rows));
}

Result<TableStream> clock_violation_table(Run& run) {
  using Row = Violations;
  std::vector<std::shared_ptr<const TimeMaps>> moved;
  for (const Process& process : run.processes()) moved.push_back(process.moved);
  run.move_times({});
  auto found = clock_violations(run);
  run.move_times(std::move(moved));
  if (!found) return found.failure();
  std::vector<RowColumn<Row>> columns{
      int32<Row>("world", [](const Row& row) { return row.world; }),
      int32<Row>("rank", [](const Row& row) { return row.rank; }),
      int32<Row>("other_rank", [](const Row& row) { return row.other_rank; }),
      int64<Row>("messages", [](const Row& row) { return as_int64(row.messages); }),
      int64<Row>("collectives", [](const Row& row) { return as_int64(row.collectives); }),
      int64<Row>("most_ns", [](const Row& row) { return row.most_ns; })};
  return stream_of(std::move(columns), std::move(*found));
}

}  // namespace tare::reader

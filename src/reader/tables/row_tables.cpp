#include "reader/tables/row_tables.h"

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "reader/events/event_table_schema.h"
#include "reader/profile/function_totals.h"
#include "reader/retiming/clock_correction.h"
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

struct PhaseRow {
  PhaseSum sum;
  std::int32_t name;
};

}  // namespace

Result<TableStream> communicator_table(Run& run) {
  using Row = CommunicatorRow;
  arrow::Dictionary names, keys;
  std::vector<Row> rows;
  for (const CommunicatorInfo& each : run.communicators()) {
    const std::string name = each.name.empty() ? "#" + std::to_string(rows.size()) : each.name;
    rows.push_back({&each, names.number_of(name), key_number(keys, each.key)});
  }
  std::vector<RowColumn<Row>> columns{text_column("communicator", names, &Row::name),
                                      text_column("communicator_key", keys, &Row::key),
                                      int32<Row>("world", [](const Row& row) { return row.communicator->world; }),
                                      int32<Row>("size", [](const Row& row) { return row.communicator->size; }),
                                      boolean<Row>("inter", [](const Row& row) { return row.communicator->inter; })};
  return stream_of(std::move(columns), std::move(rows));
}

Result<TableStream> peer_table(Run& run) {
  using Row = PeerSum;
  std::vector<RowColumn<Row>> columns{
      int32<Row>("world", [](const Row& row) { return row.world; }),
      int32<Row>("rank", [](const Row& row) { return row.rank; }),
      index<Row>("peer", [](const Row& row) { return row.peer; }),
      int64<Row>("sent_messages", [](const Row& row) { return as_int64(row.sent_messages); }),
      int64<Row>("sent_bytes", [](const Row& row) { return as_int64(row.sent_bytes); }),
      int64<Row>("received_messages", [](const Row& row) { return as_int64(row.received_messages); }),
      int64<Row>("received_bytes", [](const Row& row) { return as_int64(row.received_bytes); })};
  return stream_of(std::move(columns), run.peers({.rank = true}));
}

Result<TableStream> phase_table(Run& run) {
  using Row = PhaseRow;
  arrow::Dictionary names;
  std::vector<Row> rows;
  for (const PhaseSum& sum : run.phases({.rank = true})) {
    const bool is_named = sum.type >= 0;
    rows.push_back(
        {sum, is_named ? names.number_of(run.event_types()[static_cast<std::size_t>(sum.type)].name) : absent});
  }
  std::vector<RowColumn<Row>> columns{int32<Row>("world", [](const Row& row) { return row.sum.world; }),
                                      int32<Row>("rank", [](const Row& row) { return row.sum.rank; }),
                                      text_column("phase", names, &Row::name),
                                      int64<Row>("entries", [](const Row& row) { return as_int64(row.sum.entries); }),
                                      int64<Row>("time_ns", [](const Row& row) { return row.sum.time_ns; }),
                                      int64<Row>("mpi_ns", [](const Row& row) { return row.sum.mpi_ns; }),
                                      int64<Row>("calls", [](const Row& row) { return as_int64(row.sum.calls); }),
                                      int64<Row>("bytes", [](const Row& row) { return as_int64(row.sum.bytes); })};
  return stream_of(std::move(columns), std::move(rows));
}

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

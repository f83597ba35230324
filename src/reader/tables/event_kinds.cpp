#include "reader/tables/event_kinds.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "reader/events/event_tables.h"

namespace tare::reader {
namespace {

// The columns of the table of events that calls do not have.
constexpr const char* of_events[] = {"records", "kind",       "name", "begin", "value",
                                     "unit",    "parameters", "text", "words"};
const std::vector<std::string> of_flushes = {"start_ns", "duration_ns", "world", "rank",
                                             "thread",   "function",    "bytes", "records"};

Result<TableStream> open(Run& run, EventFilter filter, const std::optional<std::vector<std::string>>& columns) {
  auto opened = EventTables::open(run, std::move(filter), columns);
  if (!opened) return opened.failure();
  const auto tables = std::make_shared<EventTables>(std::move(*opened));
  return TableStream{tables->schema(), [tables](std::vector<arrow::Array>& out) { return tables->next(out); },
                     [tables] { return tables->warnings(); }};
}

}  // namespace

Result<TableStream> event_table(Run& run) { return open(run, {}, std::nullopt); }

Result<TableStream> call_table(Run& run) {
  EventFilter filter;
  filter.functions = run.functions().names();
  std::vector<std::string> columns;
  for (std::string& name : EventTables::column_names())
    if (std::find(std::begin(of_events), std::end(of_events), name) == std::end(of_events))
      columns.push_back(std::move(name));
  return open(run, std::move(filter), columns);
}

Result<TableStream> flush_table(Run& run) {
  EventFilter filter;
  filter.functions = {flush_name, drain_name, loss_name};
  return open(run, std::move(filter), of_flushes);
}

}  // namespace tare::reader

// The tables of events, and of some kinds of them.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "reader/events/declared_tables.h"
#include "reader/events/event_tables.h"

namespace tare::reader {
namespace {

Result<TableStream> open(Run& run, EventFilter filter, std::span<const DeclaredColumn> columns) {
  std::vector<std::string> names;
  for (const DeclaredColumn& column : columns) names.emplace_back(column.name);
  auto opened = EventTables::open(run, std::move(filter), names);
  if (!opened) return opened.failure();
  const auto tables = std::make_shared<EventTables>(std::move(*opened));
  return TableStream{tables->schema(), [tables](std::vector<arrow::Array>& out) { return tables->next(out); },
                     [tables] { return tables->warnings(); }};
}

}  // namespace

Result<TableStream> event_table(Run& run) { return open(run, {}, events_columns); }

Result<TableStream> call_table(Run& run) {
  EventFilter filter;
  filter.functions = run.functions().names();
  return open(run, std::move(filter), calls_columns);
}

Result<TableStream> flush_table(Run& run) {
  EventFilter filter;
  filter.functions = {flush_name, drain_name, loss_name};
  return open(run, std::move(filter), flushes_columns);
}

}  // namespace tare::reader

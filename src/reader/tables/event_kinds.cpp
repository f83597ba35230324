// The tables of events, and of some kinds of them.
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "reader/events/declared_tables.h"
#include "reader/events/event_tables.h"

namespace tare::reader {
namespace {

Result<TableStream> chosen(Run& run, std::vector<std::string> functions, std::span<const DeclaredColumn> columns) {
  EventFilter filter;
  filter.functions = std::move(functions);
  std::vector<std::string> names;
  for (const DeclaredColumn& column : columns) names.emplace_back(column.name);
  return event_table(run, std::move(filter), names);
}

}  // namespace

Result<TableStream> event_table(Run& run) { return event_table(run, {}); }
Result<TableStream> call_table(Run& run) { return chosen(run, run.functions().names(), calls_columns); }
Result<TableStream> flush_table(Run& run) { return chosen(run, {flush_name, drain_name, loss_name}, flushes_columns); }

}  // namespace tare::reader

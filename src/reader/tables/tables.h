// All tables of a run, by name, as tables.toml declares them.
#pragma once

#include <span>
#include <string_view>

#include "reader/events/declared_tables.h"
#include "reader/run/run.h"

namespace tare::reader {

struct TableKind {
  const char* name;
  const char* row_type;  // the name of the type of rows in Python
  const char* row;       // what a row of the table is
  Result<TableStream> (*open)(Run& run);
  std::span<const DeclaredColumn> columns;
};

// All tables, in the order in which they are listed.
std::span<const TableKind> table_kinds();
// The table with that name; nullptr if there is none.
const TableKind* find_table(std::string_view name);

}  // namespace tare::reader

// All tables of a run, by name. docs/tables.md describes their columns.
#pragma once

#include <span>
#include <string_view>

#include "reader/events/table_stream.h"
#include "reader/run/run.h"

namespace tare::reader {

struct TableKind {
  const char* name;
  const char* row;  // what a row of the table is
  Result<TableStream> (*open)(Run& run);
};

// All tables, in the order in which they are listed.
std::span<const TableKind> table_kinds();
// The table with that name; nullptr if there is none.
const TableKind* find_table(std::string_view name);

}  // namespace tare::reader

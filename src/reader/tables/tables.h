// All tables of a run by name, and what a row of each is; docs/tables.md has their columns.
#pragma once

#include <span>
#include <string_view>

#include "reader/events/table_stream.h"
#include "reader/run/run.h"

namespace tare::reader {

struct TableKind {
  const char* name;
  const char* row;  // what a row of it is
  Result<TableStream> (*open)(Run& run);
};

// In the order in which they are listed.
std::span<const TableKind> table_kinds();
// nullptr: there is none of that name.
const TableKind* find_table(std::string_view name);

}  // namespace tare::reader

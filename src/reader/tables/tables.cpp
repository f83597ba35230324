#include "reader/tables/tables.h"

#include "reader/matching/match_tables.h"
#include "reader/matching/request_table.h"
#include "reader/tables/event_kinds.h"
#include "reader/tables/process_tables.h"
#include "reader/tables/profile_table.h"
#include "reader/tables/round_tables.h"
#include "reader/tables/row_tables.h"
#include "reader/tables/site_tables.h"
#include "reader/tables/structure_tables.h"
#include "reader/waits/wait_report.h"

namespace tare::reader {
namespace {

#include "tables.inc"

}  // namespace

std::span<const TableKind> table_kinds() { return kinds; }

const TableKind* find_table(std::string_view name) {
  for (const TableKind& kind : kinds)
    if (kind.name == name) return &kind;
  return nullptr;
}

}  // namespace tare::reader

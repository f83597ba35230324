#include "reader/tables/tables.h"

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

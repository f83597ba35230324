// The tables that src/reader/tables/tables.toml declares: the types of their rows, their columns, and the functions
// that make them. A table of events or of calls is made of columns at once, so there is no type of its rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "reader/events/table_stream.h"
#include "reader/result.h"

namespace tare::reader {

class Run;

// Stands for null in columns of 32-bit numbers until they are exported.
inline constexpr std::int32_t absent = INT32_MIN;

// A text of a row: its number in the dictionary of the column (RunTexts), or null.
struct Text {
  std::int32_t number = absent;

  constexpr Text() = default;
  constexpr Text(std::int32_t of) : number(of) {}
};

// A column as tables.toml declares it.
struct DeclaredColumn {
  const char* name;
  const char* dictionary;  // of texts: the name of the dictionary to which they refer
  arrow::Type type;
  bool nullable;
  bool extra;          // rows have it for verbs alone
  std::size_t offset;  // in the type of rows, where there is one
};

#include "table_rows.inc"

}  // namespace tare::reader

// Tables whose rows are all in memory when the table is opened.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "reader/events/row_table.h"
#include "reader/events/table_stream.h"

namespace tare::reader {

// A column of texts. `number`: the member of a row that holds an index in `texts`, or `absent`. To be called after all
// rows have been made, because it copies the dictionary.
template <class Row>
RowColumn<Row> text_column(const char* name, const arrow::Dictionary& texts, std::int32_t Row::*number) {
  const arrow::Field field{name, arrow::Type::dictionary, true, {}, texts.array()};
  return row_columns::text<Row>(name, field, [number](const Row& row) { return row.*number; });
}

// A stream of the rows. What the rows refer to must outlive the stream.
template <class Row>
TableStream stream_of(std::vector<RowColumn<Row>> columns, std::vector<Row> rows) {
  const std::size_t count = rows.size();
  const auto more = [kept = std::make_shared<std::vector<Row>>(std::move(rows))](std::vector<Row>& to) {
    to = std::exchange(*kept, {});
  };
  const auto table = std::make_shared<RowTable<Row>>(std::move(columns), more);
  return {table->schema(), [table](std::vector<arrow::Array>& out) { return table->next(out); },
          [] { return std::vector<std::string>{}; }, count};
}

}  // namespace tare::reader

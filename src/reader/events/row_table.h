// Tables that are made of rows (namespace rows).
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reader/events/declared_tables.h"
#include "reader/events/run_texts.h"

namespace tare::reader {

// Counts as columns have them.
inline std::int64_t as_int64(std::uint64_t number) { return static_cast<std::int64_t>(number); }
// Sums of bytes; the largest number stands for those that are larger.
inline std::int64_t saturated(std::uint64_t sum) { return as_int64(sum > INT64_MAX ? INT64_MAX : sum); }
inline std::optional<std::int64_t> rounded(std::optional<double> number) {
  return number ? std::optional<std::int64_t>(std::llround(*number)) : std::nullopt;
}
// Time and bytes of a FunctionTotal or SiteTotal. The time is not known if no call was timed.
template <class Total>
rows::Total total_of(const Total& total) {
  return {.time_ns = rounded(total.measured_calls == 0 ? std::nullopt : std::optional(total.time_ns)),
          .time_error_ns = rounded(total.time_error_ns),
          .bytes = rounded(total.bytes),
          .bytes_error = rounded(total.bytes_error)};
}

// Rows of any type of the namespace `rows`.
struct RowBatch {
  std::shared_ptr<const void> owner;
  const char* first = nullptr;
  std::size_t count = 0, row_bytes = 0;
};

template <class Row>
RowBatch batch_of(std::vector<Row> rows) {
  const auto kept = std::make_shared<const std::vector<Row>>(std::move(rows));
  return {kept, reinterpret_cast<const char*>(kept->data()), kept->size(), sizeof(Row)};
}

// A table with these columns. `more` returns further rows; if it returns none, the table has ended. The texts must
// have their final dictionaries.
TableStream row_table(std::vector<DeclaredColumn> columns, const RunTexts& texts, std::function<RowBatch()> more);

// The columns with these names, in this order.
std::vector<DeclaredColumn> columns_named(std::span<const DeclaredColumn> all, std::span<const std::string_view> names);
// All columns but extra ones.
std::vector<DeclaredColumn> usual_columns(std::span<const DeclaredColumn> all);

// A table whose rows are all in memory.
template <class Row>
TableStream stored_table(std::vector<Row> rows, const RunTexts& texts,
                         std::vector<DeclaredColumn> columns = usual_columns(Row::columns())) {
  const std::size_t count = rows.size();
  const auto more = [all = batch_of(std::move(rows))]() mutable { return std::exchange(all, {}); };
  TableStream table = row_table(std::move(columns), texts, more);
  table.rows = count;
  return table;
}

// A table whose rows are made as it is read. `more` appends rows to the empty vector that it gets.
template <class Row, class More>
TableStream streamed_table(const RunTexts& texts, More more, std::function<std::vector<std::string>()> warnings) {
  TableStream table = row_table(usual_columns(Row::columns()), texts, [more = std::move(more)]() mutable {
    std::vector<Row> rows;
    more(rows);
    return batch_of(std::move(rows));
  });
  table.warnings = std::move(warnings);
  return table;
}

}  // namespace tare::reader

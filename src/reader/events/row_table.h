// Arrow tables that are made of rows. Each column says how to get its value from a row.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "reader/events/arrow.h"
#include "reader/events/event_batch.h"

namespace tare::reader {

template <class Row>
struct RowColumn {
  arrow::Field field;
  std::function<arrow::Array(std::span<const Row>, const std::shared_ptr<arrow::Arena>&)> fill;
};

namespace row_columns {

// A column of int32, int64 or double. Values equal to `nothing` are null.
template <class Row, class T, class Of>
RowColumn<Row> nullable(arrow::Field field, T nothing, Of of) {
  return {std::move(field), [nothing, of](std::span<const Row> rows, const std::shared_ptr<arrow::Arena>& arena) {
            T* values = arena->allocate<T>(rows.size());
            for (std::size_t i = 0; i < rows.size(); ++i) values[i] = of(rows[i]);
            arrow::Array array{rows.size(), 0, {}, {values, arena}, {}};
            mark_absent(array, values, nothing, arena);
            return array;
          }};
}
template <class Row, class Of>
RowColumn<Row> int32(const char* name, Of of) {  // `absent` is null
  return nullable<Row, std::int32_t>({name, arrow::Type::int32}, absent, of);
}
// A column of ranks, indices and similar numbers. Negative ones are null.
template <class Row, class Of>
RowColumn<Row> index(const char* name, Of of) {
  return int32<Row>(name, [of](const Row& row) {
    const auto value = static_cast<std::int32_t>(of(row));
    return value < 0 ? absent : value;
  });
}
template <class Row, class Of>
RowColumn<Row> int64(const char* name, Of of) {  // INT64_MIN is null
  return nullable<Row, std::int64_t>({name, arrow::Type::int64}, INT64_MIN, of);
}
template <class Row, class Of>
RowColumn<Row> float64(const char* name, Of of) {  // never null
  return {{name, arrow::Type::float64}, [of](std::span<const Row> rows, const std::shared_ptr<arrow::Arena>& arena) {
            auto* values = arena->allocate<double>(rows.size());
            for (std::size_t i = 0; i < rows.size(); ++i) values[i] = of(rows[i]);
            return arrow::Array{rows.size(), 0, {}, {values, arena}, {}};
          }};
}
template <class Row, class Of>
RowColumn<Row> boolean(const char* name, Of of) {
  return {{name, arrow::Type::boolean, false},
          [of](std::span<const Row> rows, const std::shared_ptr<arrow::Arena>& arena) {
            auto* bits = arena->allocate<std::uint8_t>(rows.size() / 8 + 1);
            std::fill_n(bits, rows.size() / 8 + 1, std::uint8_t{0});
            for (std::size_t i = 0; i < rows.size(); ++i)
              bits[i / 8] = static_cast<std::uint8_t>(bits[i / 8] | static_cast<unsigned>(of(rows[i])) << i % 8);
            return arrow::Array{rows.size(), 0, {}, {bits, arena}, {}};
          }};
}
// A column of indices in the dictionary of the column `like`; `absent` is null.
template <class Row, class Of>
RowColumn<Row> text(const char* name, const arrow::Field& like, Of of) {
  return nullable<Row, std::int32_t>({name, arrow::Type::dictionary, true, {}, like.dictionary}, absent, of);
}

}  // namespace row_columns

// A table of rows. `more` appends further rows to the empty vector that it gets; if it appends none, the table has
// ended.
template <class Row>
class RowTable {
 public:
  using More = std::function<void(std::vector<Row>& rows)>;

  RowTable(std::vector<RowColumn<Row>> columns, More more) : columns_(std::move(columns)), more_(std::move(more)) {}

  arrow::Schema schema() const {
    arrow::Schema schema;
    for (const RowColumn<Row>& column : columns_) schema.push_back(column.field);
    return schema;
  }
  // Fills the next batch; see arrow::Next.
  std::size_t next(std::vector<arrow::Array>& columns) {
    if (given_ == rows_.size()) {
      rows_.clear();
      given_ = 0;
      more_(rows_);
    }
    const std::size_t count = std::min(rows_.size() - given_, max_rows);
    const auto arena = std::make_shared<arrow::Arena>(pool_);
    const std::span<const Row> rows(rows_.data() + given_, count);
    columns.clear();
    for (const RowColumn<Row>& column : columns_) columns.push_back(column.fill(rows, arena));
    given_ += count;
    return count;
  }

 private:
  static constexpr std::size_t max_rows = 8192;

  std::vector<RowColumn<Row>> columns_;
  More more_;
  std::vector<Row> rows_;
  std::size_t given_ = 0;
  std::shared_ptr<arrow::Arena::Pool> pool_ = arrow::Arena::make_pool();
};

}  // namespace tare::reader

// A batch of the table of events while its columns are filled.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <vector>

#include "format/event_codec.h"
#include "reader/events/arrow.h"
#include "reader/events/declared_tables.h"

namespace tare::reader {

// The maximum number of rows of a batch: those of a chunk, and one call that was kept back from the chunk before.
inline constexpr std::size_t max_batch_rows = format::chunk_records + 1;

// Marks the values that are equal to `nothing` as null in the validity bitmap, and counts them.
template <typename T>
void mark_absent(arrow::Array& array, T* values, T nothing, std::shared_ptr<arrow::Arena> arena) {
  const std::size_t n = array.length;
  auto* bits = arena->allocate<std::uint8_t>(n / 8 + 1);
  std::size_t there = 0;
  for (std::size_t i = 0; i < n; i += 8) {
    const std::size_t count = std::min<std::size_t>(8, n - i);
    unsigned byte = 0;
    for (std::size_t k = 0; k < count; ++k) byte |= static_cast<unsigned>(values[i + k] != nothing) << k;
    bits[i / 8] = static_cast<std::uint8_t>(byte);
    there += static_cast<std::size_t>(__builtin_popcount(byte));
  }
  // Indices of dictionaries must be valid, also in absent rows.
  for (std::size_t i = 0; i < n; ++i) values[i] = values[i] == nothing ? 0 : values[i];
  array.nulls = static_cast<std::int64_t>(n - there);
  array.validity = {bits, std::move(arena)};
}

// A column in which all values are null.
arrow::Array all_absent(const arrow::Field& field, std::size_t length);

class EventBatch {
 public:
  // `wanted`: by EventColumn, whether the column is exported. `schema` and `wanted` must outlive the object.
  EventBatch(const arrow::Schema& schema, const std::vector<bool>& wanted, std::shared_ptr<arrow::Arena::Pool> pool)
      : schema_(schema), wanted_(wanted), arena_(std::make_shared<arrow::Arena>(std::move(pool))) {}

  bool wants(EventColumn column) const { return wanted_[static_cast<std::size_t>(column)]; }

  // Memory for the values of a wanted column.
  template <typename T>
  T* fill(EventColumn column) {
    T* values = arena_->allocate<T>(rows_);
    array(column) = {rows_, 0, {}, {values, arena_}, {}};
    return values;
  }
  // Fills a column, if it is wanted, with the values of the rows.
  template <typename T, typename ValueOf>
  void fill(EventColumn column, T nothing, const ValueOf& value_of) {
    if (!wants(column)) return;
    T* values = fill<T>(column);
    for (std::size_t i = 0; i < rows_; ++i) values[i] = value_of(i);
    mark_absent(column, values, nothing);
  }
  template <typename T>
  void mark_absent(EventColumn column, T* values, T nothing) {
    reader::mark_absent(array(column), values, nothing, arena_);
  }
  arrow::Array& array(EventColumn column) { return arrays_[static_cast<std::size_t>(column)]; }
  const std::shared_ptr<arrow::Arena>& arena() const { return arena_; }

  std::size_t rows() const { return rows_; }
  void set_rows(std::size_t rows) { rows_ = rows; }

  // Moves the wanted columns to `columns`. Columns that were not filled consist of nulls.
  void move_to(std::vector<arrow::Array>& columns);

 private:
  const arrow::Schema& schema_;
  const std::vector<bool>& wanted_;
  std::shared_ptr<arrow::Arena> arena_;
  std::size_t rows_ = 0;
  std::vector<arrow::Array> arrays_ = std::vector<arrow::Array>(std::size(events_columns));
};

}  // namespace tare::reader

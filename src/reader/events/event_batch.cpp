#include "reader/events/event_batch.h"

namespace tare::reader {
namespace {

// Used as values, offsets and bitmaps of columns in which all values are null.
alignas(64) constexpr std::uint64_t zeros[max_batch_rows + 1] = {};

}  // namespace

arrow::Array all_absent(const arrow::Field& field, std::size_t length) {
  arrow::Array array{length, static_cast<std::int64_t>(length), {zeros}, {zeros}, {zeros}};
  for (const arrow::Field& child : field.children)
    array.children.push_back(all_absent(child, field.type == arrow::Type::list ? 0 : length));
  return array;
}

void EventBatch::move_to(std::vector<arrow::Array>& columns) {
  columns.clear();
  for (std::size_t i = 0; i < arrays_.size(); ++i) {
    if (!wanted_[i]) continue;
    const bool is_filled = arrays_[i].values.data != nullptr;
    columns.push_back(is_filled ? std::move(arrays_[i]) : all_absent(schema_[i], rows_));
  }
}

}  // namespace tare::reader

#include "reader/events/row_table.h"

#include <algorithm>
#include <optional>

namespace tare::reader {
namespace {

constexpr std::size_t max_rows = 8192;  // of a batch

using Arena = std::shared_ptr<arrow::Arena>;

// The value of a column in each row.
template <class Value>
class Values {
 public:
  Values(const RowBatch& batch, std::size_t first, std::size_t offset)
      : batch_(batch), first_(first), offset_(offset) {}
  const Value& operator[](std::size_t row) const {
    return *reinterpret_cast<const Value*>(batch_.first + (first_ + row) * batch_.row_bytes + offset_);
  }

 private:
  const RowBatch& batch_;
  std::size_t first_, offset_;
};

std::uint8_t* cleared_bits(std::size_t count, const Arena& arena) {
  auto* bits = arena->allocate<std::uint8_t>(count / 8 + 1);
  std::fill_n(bits, count / 8 + 1, std::uint8_t{0});
  return bits;
}

void set_bit(std::uint8_t* bits, std::size_t at) {
  bits[at / 8] = static_cast<std::uint8_t>(bits[at / 8] | 1U << at % 8);
}

// Fills `array`, which has its length. `value_at` returns the value of a row, or nothing.
template <class Value, class ValueAt>
void fill(arrow::Array& array, const Arena& arena, const ValueAt& value_at) {
  using Stored = std::conditional_t<std::is_same_v<Value, bool>, std::uint8_t, Value>;
  Stored* values = std::is_same_v<Value, bool> ? reinterpret_cast<Stored*>(cleared_bits(array.length, arena))
                                               : arena->allocate<Stored>(array.length);
  std::uint8_t* valid = cleared_bits(array.length, arena);
  for (std::size_t row = 0; row < array.length; ++row) {
    const std::optional<Value> value = value_at(row);
    if (value) set_bit(valid, row);
    if constexpr (!std::is_same_v<Value, bool>)
      values[row] = value.value_or(Value{});
    else if (value.value_or(false))
      set_bit(values, row);
    array.nulls += value ? 0 : 1;
  }
  array.values = {values, arena};
  array.validity = {valid, arena};
}

template <class Value>
void fill(arrow::Array& array, const DeclaredColumn& column, const RowBatch& batch, std::size_t first,
          const Arena& arena) {
  const Values<Value> plain(batch, first, column.offset);
  const Values<std::optional<Value>> nullable(batch, first, column.offset);
  if (column.nullable)
    fill<Value>(array, arena, [&](std::size_t row) { return nullable[row]; });
  else
    fill<Value>(array, arena, [&](std::size_t row) { return std::optional(plain[row]); });
}

arrow::Array array_of(const DeclaredColumn& column, const RowBatch& batch, std::size_t first, std::size_t count,
                      const Arena& arena) {
  arrow::Array array;
  array.length = count;
  switch (column.type) {
    case arrow::Type::boolean:
      fill<bool>(array, column, batch, first, arena);
      break;
    case arrow::Type::int32:
      fill<std::int32_t>(array, column, batch, first, arena);
      break;
    case arrow::Type::int64:
      fill<std::int64_t>(array, column, batch, first, arena);
      break;
    case arrow::Type::float64:
      fill<double>(array, column, batch, first, arena);
      break;
    default: {  // a dictionary: generate.py makes no rows with other types
      const Values<Text> texts(batch, first, column.offset);
      fill<std::int32_t>(array, arena, [&](std::size_t row) {
        const std::int32_t number = texts[row].number;
        return number == absent ? std::nullopt : std::optional(number);
      });
    }
  }
  return array;
}

}  // namespace

TableStream row_table(std::vector<DeclaredColumn> columns, const RunTexts& texts, std::function<RowBatch()> more) {
  arrow::Schema schema;
  for (const DeclaredColumn& column : columns) schema.push_back(texts.field_of(column));
  const auto next = [columns = std::move(columns), more = std::move(more), pool = arrow::Arena::make_pool(),
                     batch = RowBatch{}, given = std::size_t{0}](std::vector<arrow::Array>& arrays) mutable {
    if (given == batch.count) {
      batch = more();
      given = 0;
    }
    const std::size_t count = std::min(batch.count - given, max_rows);
    const auto arena = std::make_shared<arrow::Arena>(pool);
    arrays.clear();
    for (const DeclaredColumn& column : columns) arrays.push_back(array_of(column, batch, given, count, arena));
    given += count;
    return count;
  };
  return {std::move(schema), next, [] { return std::vector<std::string>{}; }};
}

std::vector<DeclaredColumn> columns_named(std::span<const DeclaredColumn> all,
                                          std::span<const std::string_view> names) {
  std::vector<DeclaredColumn> chosen;
  for (const std::string_view name : names)
    chosen.push_back(*std::find_if(all.begin(), all.end(), [&](const auto& column) { return column.name == name; }));
  return chosen;
}

std::vector<DeclaredColumn> usual_columns(std::span<const DeclaredColumn> all) {
  std::vector<DeclaredColumn> chosen;
  std::copy_if(all.begin(), all.end(), std::back_inserter(chosen), [](const auto& column) { return !column.extra; });
  return chosen;
}

}  // namespace tare::reader

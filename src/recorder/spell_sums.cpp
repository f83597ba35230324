#include "recorder/spell_sums.h"

#include <cstring>

#include "recorder/location.h"

namespace tare::recorder {

constinit SpellSummer spell_summer;

namespace {

// nullptr: there is no room for another function.
format::SpellSums* sums_of(format::SpellSumsTable& table, std::uint32_t function) noexcept {
  for (std::uint32_t i = 0; i < table.functions; ++i)
    if (table.sums[i].function == function) return &table.sums[i];
  if (table.functions == format::spell_sums_capacity) return nullptr;
  format::SpellSums& sums = table.sums[table.functions];
  sums.function = function;
  ++table.functions;
  return &sums;
}

}  // namespace

void SpellSummer::add_rows(const Location& location, std::uint64_t sign) noexcept {
  const std::uint32_t rows = location.shared->summary.rows;
  for (std::uint32_t number = 0; number < rows; ++number) {
    const format::ProfileRow& row = location.rows[number];
    Made& made = made_[row.function];
    made.calls += sign * row.calls;
    made.ticks += sign * (row.ticks + row.pending * mean_ticks(row));
    made.bytes += sign * row.bytes;
  }
}

void SpellSummer::begin(const Location& location, double probability) noexcept {
  weight_ = 1 / probability;
  std::memset(made_, 0, sizeof made_);
  add_rows(location, ~std::uint64_t{0});
}

void SpellSummer::end(const Location& location, format::SpellSumsTable* table) noexcept {
  if (weight_ == 0 || table == nullptr) return;
  add_rows(location, 1);
  const double others = weight_ - 1, of_products = weight_ * others;
  for (std::uint32_t function = 0; function <= format::function_count; ++function) {
    if (made_[function].calls == 0 && made_[function].bytes == 0) continue;
    format::SpellSums* sums = sums_of(*table, function);
    if (sums == nullptr) break;
    const auto calls = static_cast<double>(made_[function].calls), ticks = static_cast<double>(made_[function].ticks),
               bytes = static_cast<double>(made_[function].bytes);
    ++sums->spells;
    sums->calls += others * calls;
    sums->ticks += others * ticks;
    sums->bytes += others * bytes;
    sums->calls_calls += of_products * calls * calls;
    sums->calls_ticks += of_products * calls * ticks;
    sums->ticks_ticks += of_products * ticks * ticks;
    sums->calls_bytes += of_products * calls * bytes;
    sums->bytes_bytes += of_products * bytes * bytes;
  }
  weight_ = 0;
}

}  // namespace tare::recorder

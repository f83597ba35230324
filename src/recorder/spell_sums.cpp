#include "recorder/spell_sums.h"

#include <algorithm>

#include "recorder/location.h"

namespace tare::recorder {

constinit SpellSummer spell_summer;

namespace {

constexpr std::uint16_t no_entry = UINT16_MAX;  // the table is full

// The number of an entry, plus 1; or no_entry.
std::uint16_t entry_of(format::SpellSumsTable& table, std::uint32_t function, std::uint32_t site) noexcept {
  for (std::uint32_t i = 0; i < table.entries; ++i)
    if (table.sums[i].function == function && table.sums[i].site == site) return static_cast<std::uint16_t>(i + 1);
  const std::uint32_t left_free = site == format::all_sites ? 0 : format::spell_sums_for_functions;
  if (table.entries >= format::spell_sums_capacity - left_free) return no_entry;
  format::SpellSums& sums = table.sums[table.entries];
  sums.function = function;
  sums.site = site;
  return static_cast<std::uint16_t>(++table.entries);
}

// The ticks of all calls of the row. Calls that were not timed get the mean of the others.
std::uint64_t ticks_of(const format::ProfileRow& row) noexcept {
  return row.pending == 0 ? row.ticks : row.ticks + row.pending * mean_ticks(row);
}

}  // namespace

void SpellSummer::reset() noexcept {
  if (location_ == nullptr) return;
  weight_ = 0;
  is_cut_ = false;
  location_ = nullptr;
  std::fill(std::begin(noted_), std::end(noted_), Made{});
  std::fill(std::begin(entry_of_row_), std::end(entry_of_row_), 0);
  std::fill(std::begin(entry_of_function_), std::end(entry_of_function_), 0);
}

void SpellSummer::note_rows(const Location& location) noexcept {
  const std::uint32_t rows = std::min(location.shared().summary.rows, max_rows);
  for (std::uint32_t number = 0; number < rows; ++number) {
    const format::ProfileRow& row = location.profile.rows[number];
    Made& noted = noted_[number];
    if (noted.calls != row.calls) noted = {row.calls, ticks_of(row), row.bytes};
  }
}

void SpellSummer::begin(const Location& location, double probability) noexcept {
  weight_ = 1 / probability;
  location_ = &location;
  last_.row = no_row;
  note_rows(location);
}

void SpellSummer::leave_out(const Location& location, const format::ProfileRow& row, std::uint64_t ticks,
                            std::uint64_t bytes) noexcept {
  if (&location == location_) last_ = {static_cast<std::uint32_t>(&row - location.profile.rows), ticks, bytes};
}

std::uint16_t SpellSummer::entry_of_function(format::SpellSumsTable& table, std::uint32_t function) noexcept {
  std::uint16_t& entry = entry_of_function_[function];
  if (entry == 0) entry = entry_of(table, function, format::all_sites);
  return entry;
}

void SpellSummer::cut(const Location& location) noexcept {
  if (is_cut_) return;
  is_cut_ = true;
  location_ = &location;
  std::copy_n(location.shared().lookups, std::size(counted_), counted_);
}

void SpellSummer::add_behind_cut(const Location& location, format::SpellSumsTable& table) noexcept {
  is_cut_ = false;
  for (std::uint32_t function = 1; function < std::size(counted_); ++function) {
    const std::uint64_t calls = location.shared().lookups[function] - counted_[function];
    if (calls == 0) continue;
    const std::uint16_t entry = entry_of_function(table, function);
    if (entry == no_entry) continue;
    std::uint32_t& sum = table.sums[entry - 1].behind_cuts;
    sum = static_cast<std::uint32_t>(std::min<std::uint64_t>(sum + calls, UINT32_MAX));
  }
}

void SpellSummer::add(std::uint16_t entry, const Made& made) noexcept {
  if (entry == no_entry) return;
  const auto at = static_cast<std::uint16_t>(entry - 1);
  if (made_[at].calls == 0) touched_[touched_count_++] = at;
  made_[at].calls += made.calls;
  made_[at].ticks += made.ticks;
  made_[at].bytes += made.bytes;
}

void SpellSummer::add_rows(const Location& location, format::SpellSumsTable& table) noexcept {
  const std::uint32_t rows = std::min(location.shared().summary.rows, max_rows);
  for (std::uint32_t number = 0; number < rows; ++number) {
    const format::ProfileRow& row = location.profile.rows[number];
    const Made noted = noted_[number];
    if (noted.calls == row.calls) continue;
    Made made{row.calls - noted.calls, ticks_of(row) - noted.ticks, row.bytes - noted.bytes};
    if (number == last_.row) {
      --made.calls;
      made.ticks -= last_.ticks;
      made.bytes -= last_.bytes;
    }
    if (made.calls == 0) continue;
    const std::uint16_t of_function = entry_of_function(table, row.function);
    std::uint16_t& of_row = entry_of_row_[number];
    if (of_row == 0) of_row = entry_of(table, row.function, row.site);
    if (of_function == no_entry) continue;
    add(of_function, made);
    add(of_row, made);
  }
}

void SpellSummer::end(const Location& location, format::SpellSumsTable* table) noexcept {
  if (table == nullptr) return;
  if (is_cut_) add_behind_cut(location, *table);
  if (weight_ == 0) return;
  add_rows(location, *table);
  const double others = weight_ - 1, of_products = weight_ * others;
  for (std::uint32_t i = 0; i < touched_count_; ++i) {
    const Made& made = made_[touched_[i]];
    format::SpellSums& sums = table->sums[touched_[i]];
    // The ticks can be negative: an untimed call of an earlier spell was given the mean, and a later timed call lowered
    // the mean.
    const auto calls = static_cast<double>(made.calls), bytes = static_cast<double>(made.bytes),
               ticks = static_cast<double>(static_cast<std::int64_t>(made.ticks));
    const auto of_function = static_cast<double>(made_[entry_of_function_[sums.function] - 1].calls);
    ++sums.spells;
    sums.calls += others * calls;
    sums.ticks += others * ticks;
    sums.bytes += others * bytes;
    sums.calls_calls += of_products * calls * calls;
    sums.ticks_ticks += of_products * ticks * ticks;
    sums.bytes_bytes += of_products * bytes * bytes;
    sums.calls_of_function += of_products * calls * of_function;
    sums.ticks_of_function += of_products * ticks * of_function;
    sums.bytes_of_function += of_products * bytes * of_function;
  }
  for (std::uint32_t i = 0; i < touched_count_; ++i) made_[touched_[i]] = {};
  touched_count_ = 0;
  weight_ = 0;
}

}  // namespace tare::recorder

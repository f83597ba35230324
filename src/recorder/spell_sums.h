// Adds up the calls of measured spells by function and by call site. The reader estimates from these sums what the
// calls have that were only counted (format/spell_sums.h).
//
// Wrappers do nothing for it. The profile rows of the thread are copied when a measured spell begins, and subtracted
// when it ends. Both read one cache line of each row, and more of rows that have changed. Spells are few
// (recorder/spells.h), and this is done only while not all of them are measured. It is done in the wrapper of the call
// that ends the spell, so it is part of the cost account.
#pragma once

#include <cstdint>

#include "format/functions.h"
#include "format/profile_row.h"
#include "format/spell_sums.h"
#include "recorder/profile_table.h"

namespace tare::recorder {

struct Location;

class SpellSummer {
 public:
  // A measured spell of this thread begins. `probability`: that such a spell is measured; more than 0.
  void begin(const Location& location, double probability) noexcept;
  // Leaves the call out that is about to end the spell and has been added to `row`. Does nothing for other threads.
  void leave_out(const Location& location, const format::ProfileRow& row, std::uint64_t ticks,
                 std::uint64_t bytes) noexcept;
  // From here on, calls of the spell under way are only counted.
  void cut(const Location& location) noexcept;
  // The spell ends. Does nothing if none has begun, or been cut.
  void end(const Location& location, format::SpellSumsTable* table) noexcept;
  // For a forked child.
  void reset() noexcept;

 private:
  // Further rows are left out. A location has no more.
  static constexpr std::uint32_t max_rows = usual_rows;
  static constexpr std::uint32_t no_row = UINT32_MAX;

  struct Made {
    std::uint64_t calls, ticks, bytes;
  };
  struct LastCall {
    std::uint32_t row;  // its number
    std::uint64_t ticks, bytes;
  };

  void note_rows(const Location& location) noexcept;
  // Adds the increase of each row to its function and its site.
  void add_rows(const Location& location, format::SpellSumsTable& table) noexcept;
  void add(std::uint16_t entry, const Made& made) noexcept;
  std::uint16_t entry_of_function(format::SpellSumsTable& table, std::uint32_t function) noexcept;
  // Adds the calls since the cut to their functions.
  void add_behind_cut(const Location& location, format::SpellSumsTable& table) noexcept;

  double weight_ = 0;                   // 1 / probability of the spell under way; 0: there is none
  const Location* location_ = nullptr;  // of the spell under way
  LastCall last_{no_row, 0, 0};
  bool is_cut_ = false;
  std::uint32_t touched_count_ = 0;
  Made noted_[max_rows]{};  // the rows when the spell began
  // Numbers of entries of the table, plus 1; 0: not looked for yet. They never change.
  std::uint16_t entry_of_row_[max_rows]{};
  std::uint16_t entry_of_function_[format::function_count + 1]{};
  // The calls of the spell that ends, by entry of the table; and the numbers of the entries with calls.
  Made made_[format::spell_sums_capacity]{};
  std::uint16_t touched_[format::spell_sums_capacity]{};
  std::uint64_t counted_[format::function_count + 1]{};  // LocationHeader::lookups when the spell was cut
};

// For the first thread of this process.
[[gnu::visibility("hidden")]] extern constinit SpellSummer spell_summer;

}  // namespace tare::recorder

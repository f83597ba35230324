// Adds up what each measured spell has of each function and call site, for estimates of those that were only counted
// (format/spell_sums.h).
//
// A wrapper does nothing for it. The rows of the thread are noted when such a spell begins; what they have more when it
// ends is the spell's. Both look at one cache line of each row, and more of those that the spell has touched. Spells
// are few (recorder/spells.h), and this is done only while not all are measured. It is done within the wrapper of the
// call that ends the spell, so it is part of the cost account as that is.
#pragma once

#include <cstdint>

#include "format/functions.h"
#include "format/profile_row.h"
#include "format/spell_sums.h"

namespace tare::recorder {

struct Location;

class SpellSummer {
 public:
  // A spell of this thread begins, which is measured with this probability: more than 0.
  void begin(const Location& location, double probability) noexcept;
  // The call that is about to end the spell of this thread, and has been added to this row: it is no part of the
  // spell. Nothing of other threads.
  void leave_out(const Location& location, const format::ProfileRow& row, std::uint64_t ticks,
                 std::uint64_t bytes) noexcept;
  // It ends. Nothing where none has begun.
  void end(const Location& location, format::SpellSumsTable* table) noexcept;
  // In a forked child.
  void forget() noexcept;

 private:
  // Rows beyond are left out: there are no more where calls of MPI are recorded.
  static constexpr std::uint32_t most_rows = 2816;
  static constexpr std::uint32_t no_row = UINT32_MAX;

  struct Made {
    std::uint64_t calls, ticks, bytes;
  };
  struct LastCall {
    std::uint32_t row;  // its number
    std::uint64_t ticks, bytes;
  };

  void note_rows(const Location& location) noexcept;
  // Adds what the rows have more to that of their functions and sites.
  void add_rows(const Location& location, format::SpellSumsTable& table) noexcept;
  void add(std::uint16_t entry, const Made& made) noexcept;

  double weight_ = 0;                   // of the spell under way; 0: there is none
  const Location* location_ = nullptr;  // whose spell it is
  LastCall last_{no_row, 0, 0};
  std::uint32_t touched_count_ = 0;
  Made noted_[most_rows]{};  // by number of the row
  // Numbers of entries of the table, plus 1; 0: not looked for. An entry is that of its row for good.
  std::uint16_t entry_of_row_[most_rows]{};
  std::uint16_t entry_of_function_[format::function_count + 1]{};
  // By entry: what the spell that ends has; and which entries have something.
  Made made_[format::spell_sums_capacity]{};
  std::uint16_t touched_[format::spell_sums_capacity]{};
};

// Of the first thread of this process.
[[gnu::visibility("hidden")]] extern constinit SpellSummer spell_summer;

}  // namespace tare::recorder

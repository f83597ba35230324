// Adds up what each measured spell has of each function, for estimates of those that were only counted
// (format/spell_sums.h).
//
// A wrapper does nothing for it. The rows of the thread are added up by function when such a spell begins and when it
// ends; what lies between is the spell's. Spells are few (recorder/spells.h), and this is done only while not all are
// measured.
#pragma once

#include <cstdint>

#include "format/functions.h"
#include "format/spell_sums.h"

namespace tare::recorder {

struct Location;

class SpellSummer {
 public:
  // A spell of this thread begins, which is measured with this probability: more than 0.
  void begin(const Location& location, double probability) noexcept;
  // It ends. Nothing where none has begun.
  void end(const Location& location, format::SpellSumsTable* table) noexcept;
  // In a forked child.
  void forget() noexcept { weight_ = 0; }

 private:
  struct Made {
    std::uint64_t calls, ticks, bytes;
  };

  void add_rows(const Location& location, std::uint64_t sign) noexcept;

  double weight_ = 0;  // of the spell under way; 0: there is none
  // By function: at the begin of the spell what all calls so far have, negative; at its end what the spell has.
  Made made_[format::function_count + 1]{};
};

// Of the first thread of this process.
[[gnu::visibility("hidden")]] extern constinit SpellSummer spell_summer;

}  // namespace tare::recorder

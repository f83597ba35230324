// What the measured spells say of those whose calls were only counted (recorder/spells.h). Part of the segment, and
// also on disk: the payload of a spell_sums chunk is an array of these, one of each function.
//
// A spell is measured with a probability p that was known when it began, and stands for 1 / p spells: weight = 1 / p.
// So the sum of weight - 1 times what a measured spell has of something estimates what the others have of it (Horvitz
// and Thompson, A generalization of sampling without replacement, JASA 47, 1952). Spells with p = 1 stand for
// themselves alone and are in no sum. Times are in ticks.
#pragma once

#include <cstdint>

namespace tare::format {

struct SpellSums {
  std::uint32_t function;
  std::uint32_t spells;  // that had calls of it
  // Sums of weight - 1 times what a spell has:
  double calls;
  double ticks;
  double bytes;
  // Of weight * (weight - 1) times the products, for variances:
  double calls_calls;
  double calls_ticks;
  double ticks_ticks;
  double calls_bytes;
  double bytes_bytes;
};
static_assert(sizeof(SpellSums) == 72);

// In the segment.
inline constexpr std::uint32_t spell_sums_capacity = 256;  // functions; a program hardly calls as many
struct SpellSumsTable {
  std::uint32_t functions;  // entries that are in use
  std::uint32_t reserved;
  SpellSums sums[spell_sums_capacity];
};

}  // namespace tare::format
